import { useT } from "@/lib/i18n";
import { cn } from "@/lib/cn";

type MissingFilesProps = { names: readonly string[]; className?: string };

/** Asks the owner to choose again the files that the browser could not store with the draft. */
export function MissingFiles({ names, className }: MissingFilesProps) {
  const t = useT();
  if (names.length === 0) return null;
  return (
    <p role="status" className={cn("text-danger text-sm font-[520] wrap-anywhere", className)}>
      {t("common.chooseAgain", { names: names.join(", ") })}
    </p>
  );
}
