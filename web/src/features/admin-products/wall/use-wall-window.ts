import {
  startTransition,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type RefObject,
} from "react";
import { gridOf, rowsOf, type Grid } from "@/features/admin-products/wall/geometry";

/** How many rows are rendered above and below the window, so that fast scrolling shows no gaps. */
const EXTRA_ROWS = 2;

/**
 * Decides which of the `total` works of the wall (the admin area's list of works as pictures) are rendered: those in or near the
 * window. Returns the grid, the index of the first work to render (`first`), and the index after the last one (`end`).
 */
export function useWallWindow(wall: RefObject<HTMLElement | null>, total: number) {
  const [width, setWidth] = useState(0);
  // The rows to render. 8 is a guess, because the size of the wall is not known before the wall is in the page.
  const [rows, setRows] = useState({ first: 0, end: 8 });
  // The rows that are on the page. React may be preparing other rows in a transition.
  const rendered = useRef(rows);
  useLayoutEffect(() => {
    rendered.current = rows;
  }, [rows]);
  // Measures the width before the first paint, so that the owner never sees a grid of a guessed width.
  useLayoutEffect(() => {
    const element = wall.current!;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, [wall]);

  // The grid is the same object while the width is the same, because it is a prop of memoized tiles.
  const grid: Grid = useMemo(() => gridOf(width || 960 /* not measured yet */), [width]);
  const { height } = grid.cell;
  // Follows the part of the wall that is in the window.
  useEffect(() => {
    let requested = { first: -1, end: -1 };
    const update = () => {
      const top = -(wall.current?.getBoundingClientRect().top ?? 0);
      const visible = [Math.floor(top / height), Math.ceil((top + innerHeight) / height)] as const;
      const first = Math.max(0, visible[0] - EXTRA_ROWS);
      const end = Math.max(first + 1, visible[1] + EXTRA_ROWS);
      if (requested.first === first && requested.end === end) return;
      requested = { first, end };
      // Whether rows in the window are not rendered yet.
      const hasGap =
        Math.max(0, visible[0]) < rendered.current.first || visible[1] > rendered.current.end;
      // Rows beyond the window are rendered in parts between frames, as a transition. A gap in the window is closed at once.
      if (hasGap) setRows({ first, end });
      else startTransition(() => setRows({ first, end }));
    };
    update();
    window.addEventListener("scroll", update, { passive: true });
    window.addEventListener("resize", update);
    return () => {
      window.removeEventListener("scroll", update);
      window.removeEventListener("resize", update);
    };
  }, [wall, height]);

  const last = rowsOf(grid, total);
  return {
    grid,
    first: Math.min(rows.first, last) * grid.columns,
    end: Math.min(Math.min(rows.end, last) * grid.columns, total),
  };
}
