import type { HistoryDifference } from "@/components/history/history-dialog";
import { seriesDifferences } from "@/features/admin-products/series-schema";
import type { Translate } from "@/lib/i18n";
import type { Revision, Series, SeriesWork } from "@/lib/types";

/** A pair (one work in one series), as revisions store it. A revision is a row as it was before a change. */
export type RevisionPair = Pick<
  SeriesWork,
  "id" | "series_id" | "product_id" | "position" | "created_at"
>;

/** A series with its works in their order. */
export type SeriesVersion = { series: Series; pairs: readonly RevisionPair[] };

/** What one revision of a series stores: its earlier row, or its earlier works. */
export type SeriesBefore = Series | { pairs: RevisionPair[] };

/**
 * Makes whole versions from the revisions of a series, which are sorted newest first. A revision has either the earlier row or the
 * earlier works. Its version takes what the revision lacks from the next newer version. The newest version is `now`.
 */
export function seriesVersions(
  revisions: readonly Revision<SeriesBefore>[],
  now: SeriesVersion,
): Revision<SeriesVersion>[] {
  const versions: Revision<SeriesVersion>[] = [];
  let { series, pairs } = now;
  for (const revision of revisions) {
    const before = revision.row_before;
    if (!("pairs" in before)) {
      series = before;
    } else {
      pairs = before.pairs;
      if (revision.action === "delete") {
        // A deletion makes two revisions: the row, and after it in the list the works. They become one version.
        const deletion = versions.at(-1);
        if (deletion) deletion.row_before = { ...deletion.row_before, pairs };
        continue;
      }
    }
    versions.push({ ...revision, row_before: { series, pairs } });
  }
  return versions;
}

/** The fields in which two versions of a series differ. `titleOf` returns the title of a work; "" if it was deleted. */
export function versionDifferences(
  before: SeriesVersion,
  now: SeriesVersion,
  titleOf: (workId: string) => string,
  t: Translate,
): HistoryDifference[] {
  const differences = seriesDifferences(before.series, now.series, t);
  const idsOf = ({ pairs }: SeriesVersion) => pairs.map(({ product_id }) => product_id);
  if (idsOf(before).join() === idsOf(now).join()) return differences;
  const textOf = (version: SeriesVersion) => {
    const titles = idsOf(version).map((id) => titleOf(id) || t("series.workGone"));
    return [t("series.workCount", { n: titles.length }), ...titles].join("\n");
  };
  return [...differences, { label: t("nav.products"), before: textOf(before), now: textOf(now) }];
}
