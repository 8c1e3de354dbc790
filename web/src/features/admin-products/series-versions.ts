import type { HistoryDifference } from "@/components/history/history-dialog";
import { seriesDifferences } from "@/features/admin-products/series-schema";
import type { Translate } from "@/lib/i18n";
import type { Revision, Series, SeriesWork } from "@/lib/types";

/** A work in a series as revisions keep it. */
export type RevisionPair = Pick<
  SeriesWork,
  "id" | "series_id" | "product_id" | "position" | "created_at"
>;

/** A series with its works in their order. */
export type SeriesVersion = { series: Series; pairs: readonly RevisionPair[] };

/** What the server keeps: the row of a series before it was changed, or its works before these were changed. */
export type SeriesBefore = Series | { pairs: RevisionPair[] };

/**
 * Makes whole versions of the revisions of a series, which are the newest first: each has either the row or the works, and the rest
 * is what a newer version has.
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
        // The works of a deleted series come after its row. They belong to the same deletion.
        const deletion = versions.at(-1);
        if (deletion) deletion.row_before = { ...deletion.row_before, pairs };
        continue;
      }
    }
    versions.push({ ...revision, row_before: { series, pairs } });
  }
  return versions;
}

/** The fields in which two versions of a series differ. `titleOf` returns the title of a work, "" of one that is gone. */
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
