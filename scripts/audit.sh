#!/usr/bin/env bash
# Looks for known vulnerabilities in the Go modules and the npm packages (make audit). Exits with 1 if it finds any. Each of the two
# checks needs a database on the network. If a database cannot be reached, its check is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

# govulncheck exits with 3 when it has found something. Any other error fails too, except an unreachable database.
code=0
output=$(go tool -modfile=tools/go.mod govulncheck -tags nodynamic ./... 2>&1) || code=$?
echo "$output"
if [ "$code" -ne 0 ]; then
	case $output in
	*"fetching vulnerabilities"*) echo "audit: Go modules were not checked: the vulnerability database cannot be reached" ;;
	*) failed=1 ;;
	esac
fi

# npm's report has `metadata` when the check worked, and a message when the registry gave no advisories.
{ npm audit --json 2>/dev/null || true; } | node -e '
  const report = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  if (!report.metadata) {
    console.log(`audit: npm packages were not checked: ${report.message ?? report.error?.summary}`);
    process.exit(0);
  }
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, range } of found) console.log(`audit: ${name} ${range}: ${severity}`);
  console.log(`audit: npm packages with known vulnerabilities: ${found.length}`);
  process.exitCode = found.length ? 1 : 0;
' || failed=1
exit $failed
