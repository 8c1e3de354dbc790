import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { countOldMessages } from "@/features/admin-settings/api/count-old-messages";
import { useSaveSettings } from "@/features/admin-settings/api/save-settings";
import {
  pastDifferences,
  shorterRetention,
  withPast,
  type StoredSetting,
} from "@/features/admin-settings/past-settings";
import { HistoryDialog } from "@/components/history/history-dialog";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useOwnerBackend } from "@/lib/backend";
import { restoreFiles, restoreReplacedFiles } from "@/lib/history/bring-back";
import { historyKeys, useHistory } from "@/lib/history/revisions";
import { useBringBackToast } from "@/lib/history/use-bring-back";
import { useT } from "@/lib/i18n";
import type { Revision } from "@/lib/types";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import type { SettingsResponse, SiteSettings } from "@/lib/types";

/** The table whose revisions (rows as they were before a change) are the history. Each row stores one setting. */
const TABLE = "site_settings";

/** A question to the owner: whether to save an earlier setting that deletes the messages older than `months`. */
type DeletionQuestion = {
  months: number;
  /** The maximum number of these messages: the server keeps those with an open commission. */
  count: number;
  /** Continues with whether to save the setting. */
  resolve(confirmed: boolean): void;
};

type SettingsHistoryProps = {
  /** The current settings, with which earlier ones are compared. */
  loaded: SettingsResponse;
  /** Called after an earlier setting was saved as the current one. The form must then be loaded again. */
  onBroughtBack(): void;
};

/**
 * A button that opens the history of the settings: earlier versions, which the owner can bring back. A version has one setting, as it
 * was before a change.
 */
export function SettingsHistory({ loaded, onBroughtBack }: SettingsHistoryProps) {
  const t = useT();
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const runWithToast = useBringBackToast();
  const { mutateAsync: save } = useSaveSettings();
  const [open, setOpen] = useState(false);
  const query = useHistory<StoredSetting>(TABLE, undefined, open);
  // The question that is open; null if none is.
  const [question, setQuestion] = useState<DeletionQuestion | null>(null);

  /** Resolves with whether to save settings. If their shorter retention deletes messages, the owner is asked. */
  async function confirmDeletion(next: SiteSettings): Promise<boolean> {
    const months = shorterRetention(loaded.settings, next);
    const count = months === 0 ? 0 : await countOldMessages(backend, months);
    if (count === 0) return true;
    return new Promise((resolve) => setQuestion({ months, count, resolve }));
  }

  function closeQuestion(confirmed: boolean) {
    question?.resolve(confirmed);
    setQuestion(null);
  }

  /**
   * Saves an earlier setting as the current one. Resolves with the number of its files that no longer exist, or with null if the owner
   * has cancelled.
   */
  async function bringBack(revision: Revision<StoredSetting>): Promise<number | null> {
    const next = withPast(loaded.settings, revision.row_before);
    if (!(await confirmDeletion(next))) return null;
    const portrait = next.site.portrait ?? "";
    const missing = await restoreFiles(backend, portrait === "" ? [] : [portrait]);
    if (missing.length > 0) next.site = { ...next.site, portrait: "" };
    await save({ base: loaded, next });
    await restoreReplacedFiles(backend, revision);
    return missing.length;
  }

  return (
    <>
      <Button variant="outline" onClick={() => setOpen(true)}>
        <History aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("history.open")}
      </Button>
      <HistoryDialog
        open={open}
        onClose={() => setOpen(false)}
        title={t("history.ofNamed", { name: t("settings.title") })}
        query={query}
        differences={({ row_before }) => pastDifferences(loaded.settings, row_before, t)}
        bringBack={async (revision) => {
          const succeeded = await runWithToast(t("history.toast.back"), () => bringBack(revision));
          if (succeeded) onBroughtBack();
          else await refetch(cache, queryKeys.settings.admin); // after a conflict newer settings exist
          await refetch(cache, historyKeys.all);
          return succeeded;
        }}
      />
      <ConfirmDialog
        open={question !== null}
        onOpenChange={(isOpen) => {
          if (!isOpen) closeQuestion(false);
        }}
        title={t("history.bringBack")}
        question={
          question
            ? t("settings.messageMonthsBack", { months: question.months, n: question.count })
            : ""
        }
        confirmLabel={t("deleted.bringBack")}
        onConfirm={() => closeQuestion(true)}
      />
    </>
  );
}
