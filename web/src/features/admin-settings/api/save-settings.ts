import { useMutation, useQueryClient } from "@tanstack/react-query";
import { changesOf } from "@/features/admin-settings/changes";
import { useOwnerBackend } from "@/lib/backend";
import { replaceSite, useBoot } from "@/lib/boot";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import { queryKeys } from "@/lib/query-keys";
import type { SettingsResponse, SiteSettings } from "@/lib/types";

/** The server's error code if the stored settings are newer than the sent version (HTTP 409). */
const CONFLICT = "PT409";
/** The server's error code for an invalid field. `details` of the error is the name of the field. */
export const INVALID = "22023";

/** A save of the form of the site's settings. */
export type SettingsSaveRequest = {
  /** The stored settings from which the form's changes were made. */
  base: SettingsResponse;
  /** The settings as the form has them. */
  next: SiteSettings;
  /** Whether to save even if a newer version exists. The fields that were changed in the form then overwrite the newer version. */
  overwrite?: boolean;
};

/**
 * Saves the fields in which `next` differs from `base`. If a newer version than `base` exists, rejects with ConflictError, unless
 * `overwrite` is true.
 */
export function useSaveSettings() {
  const backend = useOwnerBackend();
  const boot = useBoot();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({
      base,
      next,
      overwrite = false,
    }: SettingsSaveRequest): Promise<SettingsResponse> => {
      let { version } = base;
      if (overwrite) {
        const newest = await backend.rpc("get_site_settings");
        if (newest.error) throw newest.error;
        ({ version } = newest.data);
      }
      const settings = changesOf(base.settings, next);
      const { data, error } = await backend.rpc("save_site_settings", { version, settings });
      if (error?.code === CONFLICT) throw new ConflictError(null);
      if (error) throw error;
      return data;
    },
    onSuccess: (saved) => {
      queryClient.setQueryData(queryKeys.settings.admin, saved);
      queryClient.setQueryData(queryKeys.settings.guide, saved);
      replaceSite(boot, saved.page); // this tab shows the new settings
      // The settings decide which types of works the gallery shows, and in which order. The query keys of works do not name these
      // settings, so the cached works would be wrong.
      queryClient.removeQueries({ queryKey: queryKeys.products.all });
    },
  });
}
