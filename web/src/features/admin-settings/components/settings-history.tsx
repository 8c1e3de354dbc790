import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useSaveSettings } from "@/features/admin-settings/api/save-settings";
import {
  pastDifferences,
  withPast,
  type StoredSetting,
} from "@/features/admin-settings/past-settings";
import { HistoryDialog } from "@/components/history/history-dialog";
import { Button } from "@/components/ui/button";
import { useOwnerBackend } from "@/lib/backend";
import { restoreFiles, restoreReplacedFiles } from "@/lib/history/bring-back";
import { historyKeys, useHistory } from "@/lib/history/revisions";
import { useBringBackToast } from "@/lib/history/use-bring-back";
import { useT } from "@/lib/i18n";
import type { Revision } from "@/lib/types";
import { queryKeys } from "@/lib/query-keys";
import { refetch } from "@/lib/refetch";
import type { SettingsResponse } from "@/lib/types";

/** The table whose revisions (rows as they were before a change) are the history. Each row stores one setting. */
const TABLE = "site_settings";

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

  /** Saves an earlier setting as the current one. Resolves with the number of its files that no longer exist. */
  async function bringBack(revision: Revision<StoredSetting>): Promise<number> {
    const next = withPast(loaded.settings, revision.row_before);
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
    </>
  );
}
