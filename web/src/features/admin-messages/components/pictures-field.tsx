import { useId, type Ref } from "react";
import { useT } from "@/lib/i18n";

/**
 * The field for the pictures of a reply, or of a note on the progress of a commission. `ref` refers to the input, from which the form
 * reads the chosen files.
 */
export function PicturesField({ ref }: { ref: Ref<HTMLInputElement> }) {
  const t = useT();
  const hintId = useId();
  return (
    <>
      <label className="label-text mt-4 block">
        {t("messages.pictures")}
        <input
          ref={ref}
          type="file"
          multiple
          accept="image/jpeg,image/png,image/webp,image/heic"
          aria-describedby={hintId}
          className="text-ink2 file:border-edge file:border-b-indigo file:text-ink mt-2 block w-full text-sm file:mr-4 file:min-h-11 file:cursor-pointer file:rounded-[2px] file:border file:border-b-4 file:bg-transparent file:px-4 file:text-[1.0625rem] file:font-[560]"
        />
      </label>
      <p id={hintId} className="text-ink2 mt-2 text-sm">
        {t("messages.picturesHint")}
      </p>
    </>
  );
}
