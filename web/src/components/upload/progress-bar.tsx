import { useT } from "@/lib/i18n";

/** The 5 px line under a file on its way; telha when it failed. */
export function ProgressBar({ percent, failed = false }: { percent: number; failed?: boolean }) {
  const t = useT();
  if (failed) return <div className="bg-telha h-[5px]" />;
  return (
    <div
      role="progressbar"
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-label={t("upload.progress", { n: percent })}
      className="bg-line h-[5px]"
    >
      <div
        className="bg-anil ease-cal h-full w-full origin-left transition-transform duration-200"
        style={{ transform: `scaleX(${percent / 100})` }}
      />
    </div>
  );
}
