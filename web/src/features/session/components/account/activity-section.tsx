import { useEffect, useRef, useState } from "react";
import { SelectField } from "@/components/form/select-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { AdminListState } from "@/components/layout/admin-list-state";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { actionText, actorText, entryPath } from "@/features/session/activity-text";
import { getActivity, useActivity, type ActivityPage } from "@/features/session/api/activity";
import { errorToast } from "@/lib/error-toast";
import { useOwnerBackend } from "@/lib/backend";
import { longDate } from "@/lib/dates";
import { useLanguage, useT } from "@/lib/i18n";
import { clockTime, dateTime, localDay, relativeTime } from "@/lib/owner-dates";
import type { ActivityEntry, ActivityKind } from "@/lib/types";

/** The kinds of entries of the activity log to choose from, with the keys of their texts. */
const KINDS = [
  ["sign_in", "activity.kind.signIn"],
  ["refused", "activity.kind.refused"],
  ["change", "activity.kind.change"],
  ["export", "activity.kind.export"],
  ["key", "activity.kind.key"],
] as const;

/** The activity log (who did what on the site), by day, with a field that chooses the kind of entries. */
export function ActivitySection() {
  const t = useT();
  const [kind, setKind] = useState<ActivityKind | "">("");
  return (
    <AdminGroup title={t("activity.title")} intro={t("activity.intro")}>
      <SelectField
        label={t("activity.show")}
        value={kind}
        onChange={(event) => setKind(event.target.value as typeof kind)}
        className="sm:max-w-80"
      >
        <option value="">{t("activity.kind.all")}</option>
        {KINDS.map(([value, text]) => (
          <option key={value} value={value}>
            {t(text)}
          </option>
        ))}
      </SelectField>
      <ActivityList key={kind} kind={kind} />
    </AdminGroup>
  );
}

/** The entries of a kind, page by page, with a button that loads the next page. */
function ActivityList({ kind }: { kind: ActivityKind | "" }) {
  const t = useT();
  const backend = useOwnerBackend();
  const { data: first, ...query } = useActivity(kind);
  // The pages that the owner has loaded below the first one.
  const [morePages, setMorePages] = useState<ActivityPage[]>([]);
  const [busy, setBusy] = useState(false);
  const endLine = useRef<HTMLParagraphElement>(null);
  const pages = first ? [first, ...morePages] : [];
  const nextCursor = pages.at(-1)?.next;

  // Loading the last page removes the focused button, so the line at the end gets the focus.
  useEffect(() => {
    if (morePages.length > 0 && !nextCursor) endLine.current?.focus();
  }, [morePages, nextCursor]);

  async function loadMore() {
    if (busy || !nextCursor) return;
    setBusy(true);
    try {
      const page = await getActivity(backend, kind, nextCursor);
      setMorePages([...morePages, page]);
    } catch (error) {
      console.warn("More activity could not be loaded", error);
      errorToast(t, t("history.loadError"));
    }
    setBusy(false);
  }

  return (
    <AdminListState
      query={{ data: first && pages.flatMap(({ entries }) => entries), ...query }}
      empty={t("activity.empty")}
    >
      {(entries) => (
        <div>
          {groupByDay(entries).map(([day, entriesOfDay]) => (
            <Day key={day} day={day} entries={entriesOfDay} />
          ))}
          {nextCursor ? (
            <Button
              variant="outline"
              size="sm"
              className="mt-6"
              loading={busy}
              onClick={() => void loadMore()}
            >
              {t("activity.more")}
            </Button>
          ) : (
            <p ref={endLine} tabIndex={-1} className="text-ink2 mt-6 text-sm">
              {t("activity.end")}
            </p>
          )}
          <p role="status" className="sr-only">
            {morePages.length > 0 && t("activity.count", { n: entries.length })}
          </p>
        </div>
      )}
    </AdminListState>
  );
}

/** Groups entries by their day in the browser's time zone. */
function groupByDay(entries: readonly ActivityEntry[]): [day: string, entries: ActivityEntry[]][] {
  const groups = new Map<string, ActivityEntry[]>();
  for (const entry of entries) {
    const day = localDay(entry.at);
    const group = groups.get(day);
    if (group) group.push(entry);
    else groups.set(day, [entry]);
  }
  return [...groups];
}

/** The entries of one day below its date. */
function Day({ day, entries }: { day: string; entries: ActivityEntry[] }) {
  const t = useT();
  const { language } = useLanguage();
  return (
    <div className="mt-7 first:mt-0">
      <h3 className="border-ink border-b-2 pb-2 font-[570]">{longDate(day, language)}</h3>
      <ul>
        {entries.map((entry) => {
          const path = entryPath(entry);
          const text = actionText(t, entry, language);
          return (
            <li
              key={entry.id}
              className="border-line flex flex-wrap items-baseline justify-between gap-x-6 gap-y-0.5 border-b py-3"
            >
              <div className="min-w-0 flex-1 basis-72 wrap-anywhere">
                <p className="font-[520]">{path ? <TextLink to={path}>{text}</TextLink> : text}</p>
                <p className="text-ink2 text-sm">{actorText(t, entry)}</p>
              </div>
              <time
                dateTime={entry.at}
                title={dateTime(entry.at, language)}
                className="text-ink2 text-sm"
              >
                {clockTime(entry.at)}, {relativeTime(entry.at, language)}
              </time>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
