// Signs the body on standard input with the library of a payment service: sign_stripe.js SECRET [SECONDS]
const stripe = require("stripe");

const payload = require("fs").readFileSync(0, "utf8");
const [secret, timestamp] = process.argv.slice(2);
const options = { payload, secret };
if (timestamp) options.timestamp = Number(timestamp);
console.log((stripe.default ?? stripe).webhooks.generateTestHeaderString(options));
