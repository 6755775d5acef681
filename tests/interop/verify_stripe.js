// Verifies lines of {"header", "body", "secret"} on standard input with the library of a payment
// service, whose webhooks are signed as `t=…,v1=…`; prints how many it took.
const stripe = require("stripe");

const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
let taken = 0;
for (const line of lines) {
  const { header, body, secret } = JSON.parse(line);
  try {
    (stripe.default ?? stripe).webhooks.constructEvent(body, header, secret);
    taken++;
  } catch (refusal) {
    console.error(refusal.message.split("\n")[0]);
  }
}
console.log(taken);
