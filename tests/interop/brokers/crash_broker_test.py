#!/usr/bin/env python3
"""Two nodes with a broker between them, of which one is killed in every round: nothing is lost, nothing doubled.

crash_broker_test.py PROGRAM MODULES KIND [CrashBroker.test_…]

POSTHORN_BROKER_ROUNDS says how many rounds; twenty unless it is set.
"""

import os
import random

import suite
from suite import eventually

ROUNDS = int(os.environ.get("POSTHORN_BROKER_ROUNDS", 20))
EACH = 40


class CrashBroker(suite.BrokerCase):
    def setUp(self):
        seed = int(os.environ.get("POSTHORN_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}")
        self.dice = random.Random(seed)
        self.server = self.broker()
        self.server.declare("orders")

    def begin(self, sending=None, taking=None):
        self.shop = self.sender(self.server, "orders", port=sending).start()
        self.stock = self.taker(self.server, "orders", port=taking).start()

    def some_effects(self, least):
        """So that what is killed is at work."""
        eventually(lambda: self.stock.number("SELECT count(*) FROM effects") >= least, 20)

    def end(self):
        self.sent(self.shop, ROUNDS * EACH)
        self.effects(self.stock, ROUNDS * EACH)
        left = lambda: self.stock.get_json("/_rf/consume")["sources"][0]["inHand"]  # noqa: E731
        self.assertTrue(eventually(lambda: left() == 0))
        self.assertEqual(self.stock.get_json("/_rf/consume/dead")["messages"], [])

    def test_the_broker_is_killed_in_the_middle_of_a_batch(self):
        self.begin()
        for number in range(ROUNDS):
            self.send(self.shop, number * EACH, EACH)
            self.some_effects(number * EACH + self.dice.randrange(EACH))
            self.server.kill()
            self.server.start()
        self.end()

    def test_confirmations_are_lost(self):
        way = self.between(self.server.port)
        self.begin(sending=way.port)
        for number in range(ROUNDS):
            self.send(self.shop, number * EACH, EACH // 2)
            self.some_effects(number * EACH + 1)  # It is connected.
            way.lose("answers")
            self.send(self.shop, number * EACH + EACH // 2, EACH // 2)
            self.some_effects(number * EACH + EACH // 2 + self.dice.randrange(EACH // 2))
            way.cut()
        self.end()

    def test_the_taker_is_killed_between_its_commit_and_the_acknowledgement(self):
        way = self.between(self.server.port)
        self.begin(taking=way.port)
        for number in range(ROUNDS):
            connected = lambda: self.stock.get_json("/_rf/consume")["sources"][0]["connected"]  # noqa: E731
            eventually(connected)
            self.send(self.shop, number * EACH, EACH // 2)
            self.some_effects(number * EACH + 1)
            way.lose("requests")  # Acknowledgements are among them.
            self.send(self.shop, number * EACH + EACH // 2, EACH // 2)
            self.some_effects(number * EACH + EACH // 2 + self.dice.randrange(EACH // 2))
            self.stock.kill()
            way.cut()
            self.stock.start()
        self.end()

    def test_the_sender_is_killed(self):
        self.begin()
        for number in range(ROUNDS):
            self.send(self.shop, number * EACH, EACH)
            self.some_effects(number * EACH + self.dice.randrange(EACH))
            self.shop.kill()
            self.shop.start()
        self.end()


if __name__ == "__main__":
    suite.run(CrashBroker)
