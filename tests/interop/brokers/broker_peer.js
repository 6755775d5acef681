// A client of brokers that Posthorn did not write: node broker_peer.js rabbit|nats PORT COMMAND …
//
//   look                        whether the broker answers
//   declare PLACE [max=N]       a queue behind the exchange x.PLACE, or a stream of PLACE.>
//   publish PLACE               the messages of standard input, a JSON object a line
//   take PLACE COUNT SECONDS    prints what it takes and acknowledges it
//   count PLACE                 how many messages are there
"use strict";

const lines = () =>
  require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const print = (one) => process.stdout.write(JSON.stringify(one) + "\n");
const [kind, port, command, place, ...words] = process.argv.slice(2);
const options = Object.fromEntries(words.map((word) => word.split("=")));

async function rabbit() {
  const client = await require("amqplib").connect(`amqp://guest:guest@127.0.0.1:${port}`);
  const channel = await client.createConfirmChannel();
  const commands = {
    look: async () => {},
    declare: async () => {
      const limits = options.max
        ? { "x-max-length": Number(options.max), "x-overflow": "reject-publish" } : {};
      await channel.assertQueue(place, { durable: true, arguments: limits });
      await channel.assertExchange(`x.${place}`, "topic", { durable: true });
      await channel.bindQueue(place, `x.${place}`, options.key ?? "#");
    },
    publish: async () => {
      for (const one of lines())
        channel.publish("", place, Buffer.from(one.body), {
          persistent: true, messageId: one.id, contentType: one.type, headers: one.headers });
      await channel.waitForConfirms();
    },
    take: async () => {
      const [count, seconds] = words.map(Number);
      const until = Date.now() + seconds * 1000;
      for (let seen = 0; seen < count && Date.now() < until;) {
        const one = await channel.get(place);
        if (!one) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          continue;
        }
        print({ id: one.properties.messageId, body: one.content.toString(), type: one.properties.contentType,
          persistent: one.properties.deliveryMode === 2, correlation: one.properties.correlationId,
          headers: one.properties.headers, address: one.fields.routingKey });
        channel.ack(one);
        ++seen;
      }
    },
    count: async () => print({ count: (await channel.checkQueue(place)).messageCount }),
  };
  await commands[command]();
  await channel.close();
  await client.close();
}

async function nats() {
  const { connect, headers, AckPolicy } = require("nats");
  const client = await connect({ port: Number(port), user: "guest", pass: "s3cret-of-nats" });
  const manager = await client.jetstreamManager();
  const stream = client.jetstream();
  const commands = {
    look: async () => { await manager.getAccountInfo(); },
    declare: async () => {
      await manager.streams.add({ name: place, subjects: [`${place}.>`], duplicate_window: 120e9,
        ...(options.max ? { max_msgs: Number(options.max), discard: "new" } : {}) });
    },
    publish: async () => {
      for (const one of lines()) {
        const with_ = headers();
        for (const [name, value] of Object.entries(one.headers ?? {})) with_.set(name, value);
        if (one.type) with_.set("Content-Type", one.type);
        await stream.publish(`${place}.m`, Buffer.from(one.body),
          { headers: with_, ...(one.id && !one.again ? { msgID: one.id } : {}) });
      }
    },
    take: async () => {
      const [count, seconds] = words.map(Number);
      await manager.consumers.add(place, { durable_name: "foreign", ack_policy: AckPolicy.Explicit });
      const consumer = await stream.consumers.get(place, "foreign");
      const until = Date.now() + seconds * 1000;
      for (let seen = 0; seen < count && Date.now() < until; ++seen) {
        const one = await consumer.next({ expires: 1000 });
        if (!one) { --seen; continue; }
        print({ id: one.headers?.get("Nats-Msg-Id"), body: one.string(), type: one.headers?.get("Content-Type"),
          persistent: true, correlation: one.headers?.get("rf-correlation-id"), address: one.subject,
          headers: Object.fromEntries((one.headers?.keys() ?? []).map((key) => [key, one.headers.get(key)])) });
        await one.ackAck();
      }
    },
    count: async () => print({ count: (await manager.streams.info(place)).state.messages }),
  };
  await commands[command]();
  await client.close();
}

(kind === "rabbit" ? rabbit() : nats()).catch((why) => {
  process.stderr.write(`${why.stack}\n`);
  process.exit(1);
});
