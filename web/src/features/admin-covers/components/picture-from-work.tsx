import { useState } from "react";
import { Images } from "lucide-react";
import { copyPicture } from "@/features/admin-covers/api/copy-picture";
import type { WorkWithPicture } from "@/features/admin-covers/api/list-works";
import { useUndoCoverChange, useUpdateCover } from "@/features/admin-covers/api/update-cover";
import { WorkPicker } from "@/features/admin-covers/components/work-picker";
import { Button } from "@/components/ui/button";
import { errorToast } from "@/lib/error-toast";
import { useOwnerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import { useUndo } from "@/lib/editing/use-undo";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { CoverImage } from "@/lib/types";

/**
 * A button that replaces the picture or video of a cover (at the top of the home page) with the picture of a work. `name` is the
 * cover's name in the label of the button.
 */
export function PictureFromWorkButton({ cover, name }: { cover: CoverImage; name: string }) {
  const t = useT();
  const backend = useOwnerBackend();
  const boot = useBoot();
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const { mutateAsync: update } = useUpdateCover();
  const { mutateAsync: revert } = useUndoCoverChange();
  const undoButton = useUndo();

  async function save(work: WorkWithPicture) {
    setBusy(true);
    try {
      const image_url = await copyPicture(backend, boot, work.image_url);
      const saved = await update({
        base: cover, // update rejects with ConflictError if these fields were changed since
        change: { image_url, media_type: "image", video_thumbnail_url: null },
      });
      setOpen(false);
      stackedToast({
        title: t("covers.toast.updated"),
        action: undoButton(() => revert(saved)),
      });
    } catch (error) {
      const description =
        error instanceof ConflictError ? t("history.toast.conflict") : messageOf(error);
      errorToast(t, description);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <Button
        variant="ghost"
        size="sm"
        className="mt-2 ml-2 px-3"
        aria-label={t("covers.fromWorksNamed", { name })}
        onClick={() => setOpen(true)}
      >
        <Images aria-hidden="true" size={20} strokeWidth={1.5} />
        {t("covers.fromWorks")}
      </Button>
      <WorkPicker
        open={open}
        multiple={false}
        busy={busy}
        onChoose={([work]) => void save(work!)} // without `multiple`, exactly one work
        onClose={() => setOpen(false)}
      />
    </>
  );
}
