#!/usr/bin/env python3
"""The file of a site that is configured with the names of the store-and-forward document: what is in it.

site_file_test.py PROGRAM [SiteFile.test_…]
"""

import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import new_folder

PROGRAM = Path(sys.argv.pop(1)).resolve()
COLUMNS = ["id", "category", "target", "payload_json", "retry_count", "max_retries", "retry_interval_ms", "created_at",
           "last_attempt_at", "status", "last_error", "origin_instance", "execution_id", "source_script",
           "parent_execution_id"]
TRACKING = ["TrackedOperationId", "Kind", "TargetSummary", "Status", "RetryCount", "LastError", "HttpStatus",
            "CreatedAtUtc", "UpdatedAtUtc", "TerminalAtUtc", "SourceInstanceId", "SourceScript", "SourceNode"]


class SiteFile(unittest.TestCase):
    def test_is_made_with_its_folder_and_the_names_of_the_document_and_made_again_without_harm(self):
        folder = Path(new_folder())
        (folder / "site.toml").write_text('[service]\nid = "plant"\n[StoreAndForward]\n'
                                          'SqliteDbPath = "./data/store-and-forward.db"\n')
        init = lambda: subprocess.run([PROGRAM, "init", "--config", "site.toml"], cwd=folder, check=True,
                                      capture_output=True)
        init()
        db = sqlite3.connect(folder / "data" / "store-and-forward.db")
        self.addCleanup(db.close)
        columns = lambda table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        self.assertEqual(columns("sf_messages"), COLUMNS)
        self.assertEqual(columns("OperationTracking"), TRACKING)
        led_by = {name: [row[2] for row in db.execute(f"PRAGMA index_info({name})")] for name in
                  ("idx_sf_messages_status", "idx_sf_messages_category", "IX_OperationTracking_Status_Updated")}
        self.assertEqual(led_by, {"idx_sf_messages_status": ["status"], "idx_sf_messages_category": ["category", "status"],
                                  "IX_OperationTracking_Status_Updated": ["Status", "UpdatedAtUtc"]})
        db.execute("INSERT INTO sf_messages (category, target, payload_json) VALUES (0, 'erp', '{}')")
        db.commit()
        init()
        self.assertEqual(db.execute("SELECT retry_count, max_retries, retry_interval_ms, status FROM sf_messages").fetchall(),
                         [(0, 50, 30000, 0)])


if __name__ == "__main__":
    unittest.main()
