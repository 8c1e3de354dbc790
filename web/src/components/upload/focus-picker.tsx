import { useId, useState, type KeyboardEvent, type MouseEvent } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend } from "@/lib/backend";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import type { ImageInfo } from "@/lib/media";
import { areaToast } from "@/lib/toast";
import { cn } from "@/lib/cn";

type FocusPickerProps = {
  /** The address as it stands in the row. */
  url: string;
  info: ImageInfo;
  /** The lists that show this file. */
  queryKey: readonly string[];
  className?: string;
};

const STEP = 0.05;
/** Where the hero cuts a cover of which nothing was said. */
const usual: [number, number] = [0.5, 0.62];

/** Lies over a preview: a click, or the arrow keys, set the point that stays in sight when the picture is cut. */
export function FocusPicker({ url, info, queryKey, className }: FocusPickerProps) {
  const t = useT();
  const backend = useOwnerBackend();
  const cache = useQueryClient();
  const hintId = useId();
  const [moved, setMoved] = useState<[number, number] | null>(null);
  const [x, y] = moved ?? info.focus ?? usual;
  const percent = (part: number) => Math.round(part * 100);

  async function save(at: [number, number]) {
    setMoved(at);
    const { error } = await backend.rpc("set_media_focus", { address: url, x: at[0], y: at[1] });
    if (error) {
      setMoved(null);
      areaToast({ title: t("common.error"), description: messageOf(error), destructive: true });
      return;
    }
    await cache.invalidateQueries({ queryKey });
  }

  function onClick(event: MouseEvent<HTMLElement>) {
    const box = event.currentTarget.getBoundingClientRect();
    // A press by the keyboard has no place.
    if (event.detail === 0) return;
    // The preview fills its place: what sticks out is cut where the point so far says.
    const scale = Math.max(box.width / info.width, box.height / info.height);
    const within = (at: number, room: number, size: number, now: number) =>
      Math.round(Math.min(1, Math.max(0, (at - (room - size) * now) / size)) * 1000) / 1000;
    void save([
      within(event.clientX - box.left, box.width, info.width * scale, x),
      within(event.clientY - box.top, box.height, info.height * scale, y),
    ]);
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const by = (
      { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const
    )[event.key as "ArrowLeft"];
    if (!by) return;
    event.preventDefault();
    const step = (from: number, way: number) =>
      Math.round(Math.min(1, Math.max(0, from + way * STEP)) * 1000) / 1000;
    void save([step(x, by[0]), step(y, by[1])]);
  }

  return (
    <>
      <button
        type="button"
        aria-label={t("media.focus", { x: percent(x), y: percent(y) })}
        aria-describedby={hintId}
        title={t("media.focusHint")}
        onClick={onClick}
        onKeyDown={onKeyDown}
        className={cn(
          "absolute inset-0 cursor-crosshair focus-visible:-outline-offset-3",
          className,
        )}
      >
        <span
          aria-hidden="true"
          className="pointer-events-none absolute size-7 -translate-1/2 rounded-full border-2 border-white shadow-[0_0_0_2px_rgb(9_13_28/.7)]"
          style={{ left: `${percent(x)}%`, top: `${percent(y)}%` }}
        />
      </button>
      <span id={hintId} className="sr-only">
        {t("media.focusHint")}
      </span>
    </>
  );
}
