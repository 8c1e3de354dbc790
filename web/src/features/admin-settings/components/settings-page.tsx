import { useState } from "react";
import { SettingsForm } from "@/features/admin-settings/components/settings-form";
import type { Preview } from "@/features/admin-settings/components/preview-dialog";
import { useSettings } from "@/features/admin-settings/api/load-settings";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { useT } from "@/lib/i18n";

/** An addition to the specification (READING §3.24): everything that the owner says about the site. */
export function SettingsPage({ preview }: { preview: Preview }) {
  const t = useT();
  const settings = useSettings();
  // Counts how often the owner asked for the newer settings: the form begins anew with each.
  const [round, setRound] = useState(0);
  const { data, isError, isFetching, refetch } = settings;
  return (
    <AdminPage title={t("settings.title")}>
      <AdminListState
        query={{ data: data && [data], isError, isFetching, refetch }}
        empty={t("common.loading")}
      >
        {([loaded]) => (
          <SettingsForm
            key={round}
            loaded={loaded!}
            preview={preview}
            onReload={async () => {
              const { error } = await refetch();
              if (error) throw error;
              setRound((before) => before + 1);
            }}
          />
        )}
      </AdminListState>
    </AdminPage>
  );
}
