/** Where the work stands: magnified `scale` times from whole, its middle `x`, `y` CSS pixels from the stage's. */
export type View = { scale: number; x: number; y: number };
export type Size = { width: number; height: number };

export const whole: View = { scale: 1, x: 0, y: 0 };

/** The size in which the whole work is on the stage; never larger than its own pixels. */
export function fitted(work: Size, stage: Size): Size {
  const by = Math.min(stage.width / work.width, stage.height / work.height, 1);
  return { width: work.width * by, height: work.height * by };
}

/** Far enough that a pixel of the work is two of the page: from there on nothing new is to be seen. */
export function furthest(work: Size, fit: Size): number {
  return Math.max(2, (2 * work.width) / fit.width);
}

/** Keeps the work on the stage: no edge of it further in than it must be. */
export function held(view: View, work: Size, stage: Size): View {
  const fit = fitted(work, stage);
  const scale = Math.min(Math.max(view.scale, 1), furthest(work, fit));
  const within = (at: number, shown: number, room: number) => {
    const free = Math.max(0, (shown * scale - room) / 2);
    return free && Math.min(Math.max(at, -free), free);
  };
  return {
    scale,
    x: within(view.x, fit.width, stage.width),
    y: within(view.y, fit.height, stage.height),
  };
}

/** Magnifies by a factor around a point, given from the stage's middle: what lies there stays there. */
export function magnified(
  view: View,
  factor: number,
  at: { x: number; y: number },
  work: Size,
  stage: Size,
): View {
  const { scale } = held({ ...view, scale: view.scale * factor }, work, stage);
  const by = scale / view.scale;
  return held(
    { scale, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by },
    work,
    stage,
  );
}

const TILE = 1024;
export type Tile = { column: number; row: number };

/** The tiles of the full-size picture that are on the stage. */
export function tilesOn(view: View, work: Size, stage: Size): Tile[] {
  const fit = fitted(work, stage);
  const pixel = work.width / (fit.width * view.scale);
  const range = (size: number, room: number, at: number) => {
    const from = size / 2 - (room / 2 + at) * pixel;
    const first = Math.max(0, Math.floor(from / TILE));
    const last = Math.min(Math.ceil(size / TILE), Math.ceil((from + room * pixel) / TILE)) - 1;
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
  };
  const columns = range(work.width, stage.width, view.x);
  return range(work.height, stage.height, view.y).flatMap((row) =>
    columns.map((column) => ({ column, row })),
  );
}

/** Where a tile lies on the work, in per cent of it. */
export function tileBox({ column, row }: Tile, work: Size) {
  const part = (n: number, size: number) => `${((100 * n) / size).toFixed(4)}%`;
  const left = column * TILE;
  const top = row * TILE;
  return {
    left: part(left, work.width),
    top: part(top, work.height),
    width: part(Math.min(TILE, work.width - left), work.width),
    height: part(Math.min(TILE, work.height - top), work.height),
  };
}
