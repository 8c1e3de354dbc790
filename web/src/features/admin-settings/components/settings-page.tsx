import { useState } from "react";
import { SettingsForm } from "@/features/admin-settings/components/settings-form";
import { SettingsHistory } from "@/features/admin-settings/components/settings-history";
import {
  SettingsFooter,
  SettingsGroups,
} from "@/features/admin-settings/components/settings-groups";
import type { PreviewComponent } from "@/features/admin-settings/components/preview-dialog";
import { useSettings } from "@/features/admin-settings/api/load-settings";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { useAuth } from "@/lib/auth";
import { useDraftLock } from "@/lib/draft-lock";
import { draftName } from "@/lib/drafts";
import { useT } from "@/lib/i18n";

/**
 * The admin page of the site's settings (docs/product.md, rule 31). `preview` is a component that renders those parts of the public
 * pages that show the settings. It is passed in, because these parts belong to other features.
 */
export function SettingsPage({ preview }: { preview: PreviewComponent }) {
  const t = useT();
  const settings = useSettings();
  // Incremented to mount a new form after earlier settings were restored or newer settings were loaded.
  const [formKey, setFormKey] = useState(0);
  const { data, isError, isFetching, refetch } = settings;
  const { user } = useAuth();
  // The name under which the browser stores the draft (unsaved values of the form). The name is in state, because during sign-out the
  // form is still mounted when there is no user any more.
  const [firstTabDraft] = useState(() => draftName(user?.id, "settings"));
  // The same name, or in a further tab a name made from it. Each tab locks its name, so that two tabs do not write the same draft.
  // Undefined until this tab has the lock.
  const lockedDraft = useDraftLock(firstTabDraft);
  return (
    <AdminPage
      title={t("settings.title")}
      action={
        data && (
          <SettingsHistory current={data} onRestored={() => setFormKey((before) => before + 1)} />
        )
      }
    >
      <AdminListState
        query={{
          // A list of one row, the settings. It counts as loading until this tab has locked its draft.
          data: data && lockedDraft !== undefined ? [data] : undefined,
          isError,
          isFetching,
          refetch,
        }}
        empty={t("common.loading")}
      >
        {([loaded]) => (
          <SettingsForm
            key={formKey}
            loaded={loaded!}
            draftName={lockedDraft!}
            privacySeed={(section) => t(`privacy.${section}.body`)}
            onReload={async () => {
              const { error } = await refetch();
              if (error) throw error;
              setFormKey((before) => before + 1);
            }}
          >
            {(fieldsProps, state) => (
              <>
                <SettingsGroups {...fieldsProps} />
                <SettingsFooter
                  state={state}
                  preview={preview}
                  measured={fieldsProps.base.response}
                />
              </>
            )}
          </SettingsForm>
        )}
      </AdminListState>
    </AdminPage>
  );
}
