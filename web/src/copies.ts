// A message as text for elsewhere: a shell, a database, a test. Whatever is in it stays text there.
// Pure.

import type { Detail } from "./types";

/// A word of a POSIX shell. Nothing in single quotes means anything but the quote itself.
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/// A literal of SQL, on SQLite and PostgreSQL alike. A NUL, which only SQLite can hold, would end it.
export function sqlText(text: string | undefined): string {
  if (text === undefined) return "NULL";
  if (!text.includes("\0")) return `'${text.replaceAll("'", "''")}'`;
  const hex = [...new TextEncoder().encode(text)].map((each) => each.toString(16).padStart(2, "0"));
  return `CAST(X'${hex.join("")}' AS TEXT)`;
}

/// A literal of C++. Octal escapes end after three digits, whatever follows; `?` could begin a
/// trigraph, and directions of text could show another order than there is.
export function cppText(text: string): string {
  let out = '"';
  for (const each of text) {
    if (each === '"' || each === "\\" || each === "?") out += `\\${each}`;
    else if (each === "\n") out += "\\n";
    else if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(each))
      for (const byte of new TextEncoder().encode(each)) out += `\\${byte.toString(8).padStart(3, "0")}`;
    else out += each;
  }
  return `${out}"`;
}

/// Reads it from the node; the key comes from the environment, so that no history keeps it.
export function asCurl(one: Detail, origin: string): string {
  const url = `${origin}/_rf/dead/${encodeURIComponent(one.messageId)}?payload=true`;
  return `curl -sS -H "Authorization: Bearer $POSTHORN_KEY" ${shellWord(url)}`;
}

/// The same message again, under a new id.
export function asSql(one: Detail): string {
  const columns: Array<[string, string | undefined]> = [
    ["message_type", one.messageType],
    ["destination", one.destination],
    ["endpoint", one.endpoint],
    ["payload", one.payload],
    ["content_type", one.contentType],
    ["headers", one.headers],
    ["correlation_id", one.correlationId],
    ["tenant", one.tenant],
    ["order_key", one.orderKey],
  ];
  const given = columns.filter(([, value]) => value !== undefined && value !== "");
  return (
    `INSERT INTO outbox_messages (${given.map(([name]) => name).join(", ")})\n` +
    `VALUES (${given.map(([, value]) => sqlText(value)).join(",\n        ")});\n`
  );
}

/// A program that gives the message to a handler, on stores that end with it.
export function asTest(one: Detail, sender: string): string {
  const options = [
    `.content_type = ${cppText(one.contentType)}`,
    one.messageType === "Command" && ".type = posthorn::message_type::command",
    one.headers && `.headers = ${cppText(one.headers)}`,
    one.correlationId && `.correlation_id = ${cppText(one.correlationId)}`,
    one.tenant && `.tenant = ${cppText(one.tenant)}`,
    one.orderKey && `.order_key = ${cppText(one.orderKey)}`,
  ].filter((each) => each);
  // Members are named in the order in which they are declared.
  const order = [".type", ".content_type", ".headers", ".correlation_id", ".tenant", ".order_key"];
  const sorted = (options as string[]).sort((a, b) => order.indexOf(a.split(" ")[0]!) - order.indexOf(b.split(" ")[0]!));
  return `#include <future>
#include <string>

#include <posthorn/posthorn.hpp>

int main() {
    std::promise<std::string> handled;
    const std::string destination = ${cppText(one.destination)};
    const std::string endpoint = ${cppText(one.endpoint)};
    const std::string payload(${cppText(one.payload ?? "")}, ${new TextEncoder().encode(one.payload ?? "").length});
    posthorn::node sender({.service = ${cppText(sender)},
                           .store = {.database = "memory:"},
                           .routes = {{destination, "inprocess:"}}});
    posthorn::node receiver({.service = destination, .store = {.database = "memory:"}});
    // Put the handler to be tested here.
    receiver.handle(endpoint, [&](posthorn::context&, const posthorn::message& got) {
        handled.set_value(got.payload);
        return std::string();
    });
    receiver.start();
    sender.start();
    sender.send(destination, endpoint, payload,
                {${sorted.join(",\n                 ")}});
    return handled.get_future().get() == payload ? 0 : 1;
}
`;
}
