import { useMutation, useQueryClient } from "@tanstack/react-query";
import { changesOf } from "@/features/admin-settings/changes";
import { useOwnerBackend } from "@/lib/backend";
import { replaceSite, useBoot } from "@/lib/boot";
import { queryKeys } from "@/lib/query-keys";
import type { SettingsAnswer, SiteSettings } from "@/lib/types";

/** Somebody else has saved since: the code with which the server answers 409. */
export const STALE = "PT409";
/** A field cannot be taken; the error's details name it. */
export const REFUSED = "22023";

type Save = {
  /** What the form was filled from. */
  base: SettingsAnswer;
  next: SiteSettings;
  /** Saves over what somebody else has saved since; what was not changed here stays theirs. */
  overNewer?: boolean;
};

/** Sends only what was changed. */
export function useSaveSettings() {
  const backend = useOwnerBackend();
  const boot = useBoot();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ base, next, overNewer = false }: Save): Promise<SettingsAnswer> => {
      let { version } = base;
      if (overNewer) {
        const newer = await backend.rpc("get_site_settings");
        if (newer.error) throw newer.error;
        ({ version } = newer.data);
      }
      const settings = changesOf(base.settings, next);
      const { data, error } = await backend.rpc("save_site_settings", { version, settings });
      if (error) throw error;
      return data;
    },
    onSuccess: (answer) => {
      cache.setQueryData(queryKeys.settings.admin, answer);
      replaceSite(boot, answer.settings.site);
    },
  });
}
