#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted growth has to be found by resources.py, and a table has to say what was written into it."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import resources

KNOWN = {"norm.cu norm_kernel<Bf16,4>": {80: (40, 0, 1024, 0), 90: (42, 0, 1024, 0)},
         "norm.cu norm_kernel<float,4>": {90: (50, 16, 1024, 3)}}


def now(name, architecture, cell):
    table = {row: dict(cells) for row, cells in KNOWN.items()}
    table.setdefault(name, {})[architecture] = cell
    return table


class Resources(unittest.TestCase):
    def test_what_is_as_it_was_is_no_growth(self):
        self.assertEqual(resources.compare(KNOWN, KNOWN), ([], []))

    def test_each_number_that_grows_is_told(self):
        cell = KNOWN["norm.cu norm_kernel<Bf16,4>"][90]
        for at, field in enumerate(resources.FIELDS):
            more = tuple(number + (2 if i == at else 0) for i, number in enumerate(cell))
            grown, shrunk = resources.compare(KNOWN, now("norm.cu norm_kernel<Bf16,4>", 90, more))
            self.assertEqual(len(grown), 1)
            self.assertIn(f"takes {more[at]} {field}, 2 more than {cell[at]}", grown[0])
            self.assertEqual(shrunk, [])

    def test_growth_of_one_does_not_hide_behind_what_another_saves(self):
        grown, shrunk = resources.compare(
            KNOWN, now("norm.cu norm_kernel<float,4>", 90, (60, 0, 1024, 0)))
        self.assertEqual((len(grown), len(shrunk)), (1, 2))

    def test_a_kernel_or_an_architecture_that_is_not_in_the_table_is_told(self):
        for name, architecture in (("norm.cu new_kernel", 90), ("norm.cu norm_kernel<float,4>", 120)):
            grown, _ = resources.compare(KNOWN, now(name, architecture, (1, 0, 0, 0)))
            self.assertEqual(grown, [f"{name} for {architecture} is not in the table (1/0/0/0)."])

    def test_a_kernel_that_is_gone_is_no_growth(self):
        grown, shrunk = resources.compare(KNOWN, {})
        self.assertEqual((len(grown), len(shrunk)), (0, 2))

    def test_a_table_says_what_was_written_into_it(self):
        self.assertEqual(resources.read_table(resources.text_of(KNOWN, "13.0.88")), KNOWN)

    def test_what_passed_is_read_again_where_the_library_or_the_table_changed(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(resources, "read_library") as read, \
                contextlib.redirect_stdout(io.StringIO()):
            library, table, passed = (pathlib.Path(folder) / name for name in "abc")

            def status(machine_code, kernels):
                library.write_text(machine_code)
                read.return_value = kernels
                with self.assertRaises(SystemExit) as ended:
                    resources.check(library, "nvcc", "13.0.88", table, passed)
                return ended.exception.code, read.call_count

            table.write_text(resources.text_of(KNOWN, "13.0.88"))
            larger = now("norm.cu norm_kernel<float,4>", 90, (60, 16, 1024, 3))
            self.assertEqual(status("one", KNOWN), (0, 1))
            self.assertEqual(status("one", larger), (0, 1))
            for reads in (2, 3):  # what fails is not remembered
                self.assertEqual(status("two", larger), (1, reads))
            table.write_text(resources.text_of(larger, "13.0.88"))
            self.assertEqual(status("one", larger), (0, 4))


if __name__ == "__main__":
    unittest.main()
