import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { countOldMessages } from "@/features/admin-settings/api/count-old-messages";
import { useSaveSettings } from "@/features/admin-settings/api/save-settings";
import {
  settingDifferences,
  shorterRetentionMonths,
  withEarlierSetting,
  type StoredSetting,
} from "@/features/admin-settings/past-settings";
import { HistoryDialog } from "@/components/history/history-dialog";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useOwnerBackend } from "@/lib/backend";
import { restoreRemovedFiles, restoreReplacedFiles } from "@/lib/history/restore-version";
import { historyKeys, useHistory } from "@/lib/history/revisions";
import { useRestoreToast } from "@/lib/history/use-restore-version";
import { useT } from "@/lib/i18n";
import type { Revision } from "@/lib/types";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import type { SettingsResponse, SiteSettings } from "@/lib/types";

/** The table of the settings. Each row stores one setting. A revision is a row as it was before a change. */
const TABLE = "site_settings";

/** The question whether to restore an earlier setting by which messages older than `months` are deleted. */
type DeletionQuestion = {
  months: number;
  /** The maximum number of deleted messages. The server keeps messages with an open commission. */
  count: number;
  /** Passes on the owner's answer: whether to restore the setting. */
  resolve(confirmed: boolean): void;
};

type SettingsHistoryProps = {
  /** The current settings. */
  current: SettingsResponse;
  /** Called after an earlier setting was restored. The form must then be mounted again, with the new settings. */
  onRestored(): void;
};

/**
 * A button that opens the history of the settings, in which the owner can restore earlier versions. A version is one setting as it was
 * before a change.
 */
export function SettingsHistory({ current, onRestored }: SettingsHistoryProps) {
  const t = useT();
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  const restoreWithToast = useRestoreToast();
  const { mutateAsync: save } = useSaveSettings();
  const [isHistoryOpen, setIsHistoryOpen] = useState(false);
  const historyQuery = useHistory<StoredSetting>(TABLE, undefined /* all rows */, isHistoryOpen);
  // Null while no question is open.
  const [question, setQuestion] = useState<DeletionQuestion | null>(null);

  /** Resolves with whether to save `next`. Asks the owner if `next` keeps messages for a shorter time and so deletes some of them. */
  async function confirmDeletion(next: SiteSettings): Promise<boolean> {
    const months = shorterRetentionMonths(current.settings, next);
    const count = months === 0 ? 0 : await countOldMessages(backend, months);
    if (count === 0) return true;
    return new Promise((resolve) => setQuestion({ months, count, resolve }));
  }

  function closeQuestion(confirmed: boolean) {
    question?.resolve(confirmed);
    setQuestion(null);
  }

  /**
   * Restores an earlier setting with its files. Resolves with the number of files that no longer exist, or with null if the owner has
   * cancelled.
   */
  async function restore(revision: Revision<StoredSetting>): Promise<number | null> {
    const next = withEarlierSetting(current.settings, revision.row_before);
    if (!(await confirmDeletion(next))) return null;
    const portrait = next.site.portrait ?? "";
    const missing = await restoreRemovedFiles(backend, portrait === "" ? [] : [portrait]);
    if (missing.length > 0) next.site = { ...next.site, portrait: "" };
    await save({ base: current, next });
    await restoreReplacedFiles(backend, revision);
    return missing.length;
  }

  return (
    <>
      <Button variant="outline" onClick={() => setIsHistoryOpen(true)}>
        <History aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("history.open")}
      </Button>
      <HistoryDialog
        open={isHistoryOpen}
        onClose={() => setIsHistoryOpen(false)}
        title={t("history.ofNamed", { name: t("settings.title") })}
        query={historyQuery}
        differences={({ row_before }) => settingDifferences(current.settings, row_before, t)}
        restore={async (revision) => {
          const succeeded = await restoreWithToast(t("history.toast.back"), () =>
            restore(revision),
          );
          if (succeeded) onRestored();
          // After a conflict newer settings exist.
          else await refetch(queryClient, queryKeys.settings.admin);
          await refetch(queryClient, historyKeys.all);
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
