"""unittest with TAP output, for the tests of the tools."""
import sys
import traceback
import unittest


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.n_points = 0

    def point(self, test, outcome, detail="", directive=""):
        self.n_points += 1
        name = test.id().split(".")[-1].removeprefix("test_")
        print(f"{outcome} {self.n_points} - {name}{directive}")
        for line in detail.splitlines():
            print(f"# {line}")
        sys.stdout.flush()

    def addSuccess(self, test):
        self.point(test, "ok")

    def addSubTest(self, test, subtest, err):
        """Subtests are parts of one point; if one fails, unittest reports no result for the whole."""
        super().addSubTest(test, subtest, err)
        if err:
            self.point(subtest, "not ok", "".join(traceback.format_exception(*err)))

    def addSkip(self, test, reason):
        self.point(test, "ok", directive=f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.point(test, "not ok", "".join(traceback.format_exception(*err)))

    def addError(self, test, err):
        super().addError(test, err)
        self.point(test, "not ok", "".join(traceback.format_exception(*err)))


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print(f"1..{suite.countTestCases()}")
    result = TapResult()
    suite.run(result)
    sys.exit(not result.wasSuccessful())
