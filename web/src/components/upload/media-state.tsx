import { TriangleAlert } from "lucide-react";
import { failureKey } from "@/components/upload/failure-key";
import { useLanguage, useT } from "@/lib/i18n";
import type { Language } from "@/lib/boot";
import type { VideoInfo, ImageInfo } from "@/lib/media";
import { cn } from "@/lib/cn";

type MediaStateProps = {
  info: ImageInfo | VideoInfo | undefined;
  /** Leaves out sizes and colours. For small pictures, such as avatars. */
  brief?: boolean;
  className?: string;
};

/**
 * Describes a stored file to the owner:
 * - a picture while its renditions (versions in other sizes and formats) are being made: says so
 * - a picture whose renditions could not be made: says why
 * - any other picture: the sizes in bytes of the original and of the largest rendition, and how much their colours differ
 * - a video: duration, codec and size, and a warning if some browsers cannot play it
 */
export function MediaState({ info, brief = false, className }: MediaStateProps) {
  const t = useT();
  const { language } = useLanguage();
  const details = info?.details;
  if (!info || (info.kind === "image" && !details)) return null;
  const lineClasses = cn("text-ink2 text-[.9375rem] leading-[1.35] lining-nums", className);
  if (info.kind === "video") {
    const codec = info.codec ? codecOf(info.codec) : undefined;
    const facts = [
      info.duration !== undefined && timeText(info.duration),
      codec?.name,
      details && sizeText(details.public, language),
    ].filter(Boolean);
    return (
      <p className={lineClasses}>
        {facts.join(" · ")}
        {details?.state === "failed" && (
          <span className="text-danger mt-1 flex gap-1.5">
            <TriangleAlert aria-hidden="true" size={18} strokeWidth={1.75} className="flex-none" />
            {t(failureKey(details.reason))}
          </span>
        )}
        {codec && !codec.plays && (
          <span className="text-danger mt-1 flex gap-1.5">
            <TriangleAlert aria-hidden="true" size={18} strokeWidth={1.75} className="flex-none" />
            {t("media.unplayable", { codec: codec.name })}
          </span>
        )}
      </p>
    );
  }
  if (details?.state === "waiting") return <p className={lineClasses}>{t("media.preparing")}</p>;
  if (details?.state === "failed")
    return (
      <p className={cn(lineClasses, "text-danger!")}>
        {t("media.failed", { reason: t(failureKey(details.reason)) })}
      </p>
    );
  if (brief) return null;
  // The size of the largest rendition in bytes.
  const renditionBytes = Math.max(0, ...Object.values(details?.ladder ?? {}));
  // Delta E measures the difference of two colours. A difference below 1 is invisible, one below 3 is small.
  const delta = details?.delta_e ?? 0;
  const deltaText = delta.toFixed(1);
  return (
    <p className={lineClasses}>
      {renditionBytes > 0 &&
        `${sizeText(details?.original ?? 0, language)} → ${sizeText(renditionBytes, language)} · `}
      {t(delta < 1 ? "media.true" : delta < 3 ? "media.close" : "media.off", {
        n: language === "pt" ? deltaText.replace(".", ",") : deltaText,
      })}
    </p>
  );
}

/** Formats bytes in decimal units with the decimal separator of the language. */
export function sizeText(bytes: number, language: Language): string {
  const text =
    bytes >= 1_000_000
      ? `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`
      : `${Math.max(1, Math.round(bytes / 1000))} kB`;
  return language === "pt" ? text.replace(".", ",") : text;
}

/** Video codecs by their code in the file, with the displayed name and whether all browsers play them. */
const codecs: Record<string, { name: string; plays: boolean }> = {
  avc1: { name: "H.264", plays: true },
  avc3: { name: "H.264", plays: true },
  vp08: { name: "VP8", plays: true },
  vp09: { name: "VP9", plays: true },
  av01: { name: "AV1", plays: true },
  hvc1: { name: "HEVC", plays: false },
  hev1: { name: "HEVC", plays: false },
  ...Object.fromEntries(
    ["apch", "apcn", "apcs", "apco", "ap4h", "ap4x"].map((code) => [
      code,
      { name: "ProRes", plays: false },
    ]),
  ),
};

function codecOf(code: string): { name: string; plays: boolean } {
  return codecs[code] ?? { name: code, plays: true };
}

/** Formats a duration as minutes and seconds, such as 1:05. */
export function timeText(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Whether the server still makes renditions for any of these rows; a list polls while it does. */
export function isPreparing(rows: readonly { media?: Record<string, ImageInfo | VideoInfo> }[]) {
  return rows.some((row) =>
    Object.values(row.media ?? {}).some(({ details }) => details?.state === "waiting"),
  );
}
