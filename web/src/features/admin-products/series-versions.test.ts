import { expect, test } from "vitest";
import {
  seriesVersions,
  versionDifferences,
  type RevisionPair,
  type SeriesBefore,
} from "@/features/admin-products/series-versions";
import type { Translate } from "@/lib/i18n";
import type { Revision, Series } from "@/lib/types";

const series = (title: string) => ({ id: "s", title, slug: "s", is_published: true }) as Series;
const pairs = (...works: string[]) => works.map((id) => ({ product_id: id }) as RevisionPair);
const revision = (
  id: number,
  row_before: SeriesBefore,
  action: Revision["action"] = "update",
): Revision<SeriesBefore> => ({
  id,
  row_id: "s",
  action,
  actor: null,
  changed_at: "",
  row_before,
  replaced_files: [],
});

test("A-history-series: each version has the row and the works, whichever of them has changed", () => {
  const versions = seriesVersions(
    [
      revision(6, { pairs: pairs("a", "b") }),
      revision(5, series("Two")),
      revision(4, { pairs: [] }),
      revision(3, series("One"), "delete"),
      revision(2, { pairs: pairs("c") }, "delete"),
    ],
    { series: series("Three"), pairs: pairs("b", "a") },
  );
  expect(
    versions.map(({ id, row_before }) => [
      id,
      row_before.series.title,
      row_before.pairs.map(({ product_id }) => product_id).join(""),
    ]),
  ).toEqual([
    [6, "Three", "ab"],
    [5, "Two", "ab"],
    [4, "Two", ""],
    [3, "One", "c"],
  ]);
});

test("A-history-series: works that differ are listed in their order", () => {
  const t: Translate = (key, vars) => (vars ? `${key} ${vars.n}` : key);
  const names: Record<string, string> = { a: "Azul", b: "Barco" };
  const titleOf = (id: string) => names[id] ?? "";
  const now = { series: series("One"), pairs: pairs("a") };
  expect(versionDifferences(now, now, titleOf, t)).toEqual([]);
  const before = { series: series("One"), pairs: pairs("b", "a", "gone") };
  expect(versionDifferences(before, now, titleOf, t)).toEqual([
    {
      label: "nav.products",
      before: "series.workCount 3\nBarco\nAzul\nseries.workGone",
      now: "series.workCount 1\nAzul",
    },
  ]);
});
