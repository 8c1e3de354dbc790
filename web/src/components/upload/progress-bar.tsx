import { useT } from "@/lib/i18n";

/** The progress of an upload in per cent, as a line of 5 px; a failed upload has a full red line. */
export function ProgressBar({ percent, failed = false }: { percent: number; failed?: boolean }) {
  const t = useT();
  if (failed) return <div className="bg-danger h-[5px]" />;
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
        className="bg-indigo ease-soft h-full w-full origin-left transition-transform duration-200"
        style={{ transform: `scaleX(${percent / 100})` }}
      />
    </div>
  );
}
