import type { HistoryDifference } from "@/components/history/history-dialog";
import { seriesDifferences } from "@/features/admin-products/series-schema";
import type { Translate } from "@/lib/i18n";
import type { Revision, Series, SeriesWork } from "@/lib/types";

// Makes the versions in the history of a series (works that the owner shows together) from revisions. A version is the series with its
// works, as they were at one time. A revision is what the database stores before one change: the row of the series, or its pairs.

/** A pair, as revisions store it. A pair is a row of series_works: one work in one series. */
export type RevisionPair = Pick<
  SeriesWork,
  "id" | "series_id" | "product_id" | "position" | "created_at"
>;

/** A series with its works in their order. */
export type SeriesVersion = { series: Series; pairs: readonly RevisionPair[] };

/** What one revision of a series stores: either the row of the series, or its pairs. */
export type SeriesBefore = Series | { pairs: RevisionPair[] };

/**
 * Makes versions from the revisions of a series. Both are sorted newest first. A revision has either the row or the pairs. Its version
 * takes the other part from the next newer version. `current` is the newest version.
 */
export function seriesVersions(
  revisions: readonly Revision<SeriesBefore>[],
  current: SeriesVersion,
): Revision<SeriesVersion>[] {
  const versions: Revision<SeriesVersion>[] = [];
  let { series, pairs } = current;
  for (const revision of revisions) {
    const before = revision.row_before;
    if (!("pairs" in before)) {
      series = before;
    } else {
      pairs = before.pairs;
      if (revision.action === "delete") {
        // In the list, a deletion of the series has two revisions: first the row, then the pairs. They become one version.
        const deletion = versions.at(-1);
        if (deletion) deletion.row_before = { ...deletion.row_before, pairs };
        continue;
      }
    }
    versions.push({ ...revision, row_before: { series, pairs } });
  }
  return versions;
}

/**
 * Returns the fields in which an earlier version of a series differs from the current one. `titleOf` returns the title of a work, or
 * "" if the work was deleted.
 */
export function versionDifferences(
  earlier: SeriesVersion,
  current: SeriesVersion,
  titleOf: (workId: string) => string,
  t: Translate,
): HistoryDifference[] {
  const differences = seriesDifferences(earlier.series, current.series, t);
  const idsOf = ({ pairs }: SeriesVersion) => pairs.map(({ product_id }) => product_id);
  if (idsOf(earlier).join() === idsOf(current).join()) return differences;
  const textOf = (version: SeriesVersion) => {
    const titles = idsOf(version).map((id) => titleOf(id) || t("series.workGone"));
    return [t("series.workCount", { n: titles.length }), ...titles].join("\n");
  };
  return [
    ...differences,
    { label: t("nav.products"), before: textOf(earlier), now: textOf(current) },
  ];
}
