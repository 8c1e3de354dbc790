import { useSetGuide } from "@/features/admin-settings/api/guide";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";

/** Returns `end`, which finishes or dismisses the guide and shows a toast, and the state that is being saved. */
export function useEndGuide(onEnded?: () => void) {
  const t = useT();
  const { mutate, isPending, variables } = useSetGuide();
  const end = (state: "done" | "dismissed") =>
    mutate(state, {
      onSuccess: () => {
        areaToast({
          title: t(state === "done" ? "guide.toast.done" : "guide.toast.dismissed"),
          description: t("guide.toast.where"),
        });
        // The pressed button unmounts, which would lose the focus.
        document.getElementById("main")?.focus({ preventScroll: true });
        onEnded?.();
      },
      onError: (failure) =>
        areaToast({
          title: t("guide.toast.error"),
          description: messageOf(failure),
          destructive: true,
        }),
    });
  return { end, ending: isPending ? variables : undefined };
}
