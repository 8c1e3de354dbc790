import { useMutation, useQueryClient } from "@tanstack/react-query";
import { changesOf } from "@/features/admin-settings/changes";
import { useOwnerBackend } from "@/lib/backend";
import { replaceSite, useBoot } from "@/lib/boot";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import { queryKeys } from "@/lib/query-keys";
import type { SettingsResponse, SiteSettings } from "@/lib/types";

/** The server's error code if the stored settings are newer than the sent version (HTTP 409). */
const CONFLICT = "PT409";
/** The server's error code for an invalid field; `details` of the error is the name of the field. */
export const INVALID = "22023";

/** A save of the settings form. */
export type SettingsSaveRequest = {
  /** The settings that the form's changes are made from. */
  base: SettingsResponse;
  /** The settings of the form. */
  next: SiteSettings;
  /** Saves even if a newer version exists. Only the fields that were changed in this form overwrite it. */
  overwrite?: boolean;
};

/**
 * Saves the changed fields of the settings. Rejects with ConflictError if a newer version exists, unless `overwrite`.
 */
export function useSaveSettings() {
  const backend = useOwnerBackend();
  const boot = useBoot();
  const cache = useQueryClient();
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
    onSuccess: (answer) => {
      cache.setQueryData(queryKeys.settings.admin, answer);
      cache.setQueryData(queryKeys.settings.guide, answer);
      replaceSite(boot, answer.page);
      // The settings decide which types are in the gallery and how works are ordered, but the query keys of works do not
      // name these settings.
      cache.removeQueries({ queryKey: queryKeys.products.all });
    },
  });
}
