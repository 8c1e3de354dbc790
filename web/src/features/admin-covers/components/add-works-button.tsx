import { useRef, useState } from "react";
import { Images } from "lucide-react";
import {
  useAddWorks,
  useUndoAddedWorks,
  type NewCovers,
} from "@/features/admin-covers/api/add-works";
import type { WorkWithPicture } from "@/features/admin-covers/api/list-works";
import { WorkPicker } from "@/features/admin-covers/components/work-picker";
import { Button } from "@/components/ui/button";
import { errorToast } from "@/lib/error-toast";
import { useUndo } from "@/lib/editing/use-undo";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/** A button that makes covers (the large pictures at the top of the home page) from the pictures of works. */
export function AddWorksButton() {
  const t = useT();
  const [open, setOpen] = useState(false);
  const { mutateAsync: add, isPending } = useAddWorks();
  const { mutateAsync: deleteAdded } = useUndoAddedWorks();
  const undoButton = useUndo();
  // The new covers of the open dialog, so that a retry after a lost response adds no cover twice.
  const newCovers = useRef<NewCovers>(new Map());

  function choose() {
    newCovers.current = new Map();
    setOpen(true);
  }

  async function save(works: WorkWithPicture[]) {
    try {
      const ids = await add({ works, newCovers: newCovers.current });
      setOpen(false);
      stackedToast({
        title: t("covers.toast.added", { n: ids.length }),
        action: undoButton(() => deleteAdded(ids)),
      });
    } catch (error) {
      errorToast(t, messageOf(error));
    }
  }

  return (
    <>
      <Button variant="outline" onClick={choose}>
        <Images aria-hidden="true" size={20} strokeWidth={1.75} />
        {t("covers.fromWorks")}
      </Button>
      <WorkPicker
        multiple
        open={open}
        busy={isPending}
        onChoose={(works) => void save(works)}
        onClose={() => setOpen(false)}
      />
    </>
  );
}
