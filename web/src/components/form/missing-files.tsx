import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";

type MissingFilesProps = {
  /** The names of the files. If there are none, nothing is rendered. */
  names: readonly string[];
  className?: string;
};

/** Names the files that the browser could not store with a draft, and asks the owner to choose them again. */
export function MissingFiles({ names, className }: MissingFilesProps) {
  const t = useT();
  if (names.length === 0) return null;
  return (
    <p role="status" className={cn("text-danger text-sm font-[520] wrap-anywhere", className)}>
      {t("common.chooseAgain", { names: names.join(", ") })}
    </p>
  );
}
