import { useEffect, useRef, useState, type PointerEvent, type RefObject } from "react";
import {
  indexesIn,
  markOf,
  placeAt,
  type Grid,
  type Point,
} from "@/features/admin-products/wall/geometry";

/** How far the pointer must move with its button down before a drag begins. */
const DRAG_DISTANCE_PX = 6;
/** How long a finger must rest on a work before the work is selected. */
const LONG_PRESS_MS = 450;
/** During a gesture the page scrolls when the pointer is this near to the top or the bottom of the window. */
const SCROLL_ZONE_PX = 90;
/** How far the page scrolls in each frame while the pointer is in the scroll zone. */
const SCROLL_STEP_PX = 18;

/** The current gesture. `index` is the index of the pressed or dragged work. */
type Gesture =
  /** The pointer is down on a picture, and has not moved far. */
  | { kind: "press"; start: Point; index: number }
  /** A work is being moved, after a press with mouse or pen, or by the work's handle. */
  | { kind: "drag"; index: number }
  /** The pointer draws a rectangle. The works that the rectangle touches are selected. */
  | { kind: "lasso"; start: Point };

type WallGestureOptions = {
  wall: RefObject<HTMLElement | null>;
  grid: Grid;
  /** The number of works on the wall. */
  total: number;
  /** Whether works can be dragged to another place. */
  canMove: boolean;
  /** Called when the work with this index was dropped at a place. Place n is the gap before the work with index n. */
  onDrop(index: number, place: number): void;
  /** Called with the indexes of the works that the lasso touches, when they change. */
  onLasso(indexes: number[]): void;
  /** Called when a finger has rested on the work with this index. */
  onLongPress(index: number): void;
};

/**
 * The pointer gestures of the wall (the admin area's list of works as pictures):
 *  - drag: works are moved by a picture (mouse, pen) or by a handle (mouse, pen, finger)
 *  - lasso: a rectangle that is drawn from an empty spot selects works (mouse)
 *  - long press: selects a work (finger)
 *
 * To keep gestures smooth, the elements that follow the pointer are moved by styles, which are written once in each frame. React renders
 * only when a gesture begins or ends, or when the selection changes.
 */
export function useWallGestures(options: WallGestureOptions) {
  // The latest options, for listeners that outlive a render.
  const latestOptions = useRef(options);
  useEffect(() => {
    latestOptions.current = options;
  });
  const gesture = useRef<Gesture | null>(null);
  const pointer = useRef<Point>({ x: 0, y: 0 }); // position in the window
  // Identifies the works that onLasso has reported last: the first index, the last index and the number of works.
  const reportedWorks = useRef<string | null>(null);
  // The dragged picture beside the pointer, the line at the place of the drop, and the rectangle of the lasso.
  const preview = useRef<HTMLDivElement>(null);
  const placeMark = useRef<HTMLLIElement>(null);
  const lassoBox = useRef<HTMLDivElement>(null);
  /** Whether the next click is the end of a gesture and must be ignored. */
  const ignoresClick = useRef(false);
  const [draggedIndex, setDraggedIndex] = useState<number | null>(null);
  const [isLassoing, setIsLassoing] = useState(false);
  // Ends the current gesture; also at unmount.
  const stop = useRef<() => void>(() => undefined);
  useEffect(() => () => stop.current(), []);

  /** The position of the pointer in coordinates of the wall. */
  function pointerOnWall(): Point {
    const box = latestOptions.current.wall.current!.getBoundingClientRect();
    return { x: pointer.current.x - box.left, y: pointer.current.y - box.top };
  }

  /** Moves the preview of a drag and the mark of its place, or the lasso, to the pointer, and reports the works in the lasso. */
  function followPointer() {
    const active = gesture.current;
    const { grid, total, onLasso } = latestOptions.current;
    if (active?.kind === "drag") {
      const mark = markOf(grid, placeAt(grid, pointerOnWall(), total), total);
      if (placeMark.current)
        placeMark.current.style.transform = `translate(${mark.x - 1.5}px, ${mark.y}px)`;
      if (preview.current)
        preview.current.style.transform = `translate(${pointer.current.x + 12}px, ${pointer.current.y + 12}px)`;
    } else if (active?.kind === "lasso") {
      const corner = pointerOnWall();
      const style = lassoBox.current?.style;
      if (style) {
        style.transform = `translate(${Math.min(active.start.x, corner.x)}px, ${Math.min(active.start.y, corner.y)}px)`;
        style.width = `${Math.abs(corner.x - active.start.x)}px`;
        style.height = `${Math.abs(corner.y - active.start.y)}px`;
      }
      const indexes = indexesIn(grid, active.start, corner, total);
      const worksInLasso = `${indexes[0]} ${indexes.at(-1)} ${indexes.length}`;
      if (reportedWorks.current === worksInLasso) return;
      reportedWorks.current = worksInLasso;
      onLasso(indexes);
    }
  }

  /** Begins a gesture. The returned function ends it after `wait` milliseconds, if it has not ended before, and calls `then`. */
  function begin(next: Gesture) {
    gesture.current = next;
    reportedWorks.current = null;
    let frame = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onMove = (event: globalThis.PointerEvent) => {
      pointer.current = { x: event.clientX, y: event.clientY };
      const active = gesture.current;
      if (active?.kind === "press") {
        const hasMovedFar =
          Math.hypot(event.clientX - active.start.x, event.clientY - active.start.y) >
          DRAG_DISTANCE_PX;
        if (!hasMovedFar) return;
        clearTimeout(timer);
        if (event.pointerType === "touch" || !latestOptions.current.canMove) {
          end();
          return;
        }
        gesture.current = { kind: "drag", index: active.index };
        setDraggedIndex(active.index);
      }
    };
    // In each frame, also without events: a pointer that rests at the edge scrolls. It scrolls last, because reading positions
    // after it would lay out the page twice.
    const step = () => {
      const { y } = pointer.current;
      if (gesture.current !== null && gesture.current.kind !== "press") {
        followPointer();
        if (y < SCROLL_ZONE_PX) window.scrollBy(0, -SCROLL_STEP_PX);
        else if (y > innerHeight - SCROLL_ZONE_PX) window.scrollBy(0, SCROLL_STEP_PX);
      }
      frame = requestAnimationFrame(step);
    };
    const end = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onUp);
      window.removeEventListener("pointercancel", end);
      window.removeEventListener("keydown", onKey, true);
      gesture.current = null;
      setDraggedIndex(null);
      setIsLassoing(false);
    };
    const onUp = (event: globalThis.PointerEvent) => {
      pointer.current = { x: event.clientX, y: event.clientY };
      const active = gesture.current;
      const { grid, total, onDrop } = latestOptions.current;
      if (active && active.kind !== "press") ignoresClick.current = true;
      if (active?.kind === "drag") onDrop(active.index, placeAt(grid, pointerOnWall(), total));
      end();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      ignoresClick.current = true;
      end();
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onUp);
    window.addEventListener("pointercancel", end);
    window.addEventListener("keydown", onKey, true);
    frame = requestAnimationFrame(step);
    stop.current = end;
    if (next.kind === "lasso") setIsLassoing(true);
    if (next.kind === "drag") setDraggedIndex(next.index);
    return (wait: number, then: () => void) => {
      timer = setTimeout(() => {
        end();
        then();
      }, wait);
    };
  }

  function onPointerDown(event: PointerEvent) {
    if (event.button !== 0 || !(event.target instanceof Element)) return;
    stop.current();
    ignoresClick.current = false;
    pointer.current = { x: event.clientX, y: event.clientY };
    const index = Number(event.target.closest("[data-index]")?.getAttribute("data-index") ?? -1);
    const isTouch = event.pointerType === "touch";
    if (event.target.closest("[data-grip]")) {
      event.preventDefault();
      begin({ kind: "drag", index });
    } else if (event.target.closest("[data-picture]")) {
      const endAfter = begin({ kind: "press", start: pointer.current, index });
      if (isTouch)
        endAfter(LONG_PRESS_MS, () => {
          ignoresClick.current = true;
          latestOptions.current.onLongPress(index);
        });
    } else if (!isTouch && !event.target.closest("button,a,input,select")) {
      event.preventDefault();
      begin({ kind: "lasso", start: pointerOnWall() });
    }
  }

  return {
    onPointerDown,
    /** Whether the current click is the end of a gesture and must be ignored. A second call returns false. */
    endedGesture: () => {
      const ended = ignoresClick.current;
      ignoresClick.current = false;
      return ended;
    },
    /** The index of the work that is dragged; null if none is. */
    draggedIndex,
    isLassoing,
    preview,
    placeMark,
    lassoBox,
  };
}
