import { useSaveGuideState } from "@/features/admin-settings/api/guide";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/**
 * Returns `endGuide`, which ends the first-run guide: it saves that the owner has finished or dismissed the guide, and shows a toast.
 * `savingState` is the state that is being saved, or undefined if nothing is being saved.
 */
export function useEndGuide(onEnded?: () => void) {
  const t = useT();
  const { mutate, isPending, variables } = useSaveGuideState();
  const endGuide = (state: "done" | "dismissed") =>
    mutate(state, {
      onSuccess: () => {
        stackedToast({
          title: t(state === "done" ? "guide.toast.done" : "guide.toast.dismissed"),
          description: t("guide.toast.where"),
        });
        // The clicked button unmounts, so the focus would be lost.
        document.getElementById("main")?.focus({ preventScroll: true });
        onEnded?.();
      },
      onError: (failure) =>
        stackedToast({
          title: t("guide.toast.error"),
          description: messageOf(failure),
          destructive: true,
        }),
    });
  return { endGuide, savingState: isPending ? variables : undefined };
}
