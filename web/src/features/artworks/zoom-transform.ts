// The geometry of the zoom: a work on a stage, which is the visible area. Sizes of works are pixels of the file; sizes
// and offsets of the stage are CSS pixels.

/**
 * How a work is drawn on the stage: `scale` is relative to the fitted size; `x` and `y` move the centre of the work from the
 * centre of the stage.
 */
export type Transform = { scale: number; x: number; y: number };
export type Size = { width: number; height: number };

/** Shows the whole work. */
export const fullTransform: Transform = { scale: 1, x: 0, y: 0 };

/** The size in CSS pixels of the work fitted into the stage, at most its size in pixels. */
export function fitSize(work: Size, stage: Size): Size {
  const factor = Math.min(stage.width / work.width, stage.height / work.height, 1);
  return { width: work.width * factor, height: work.height * factor };
}

/** The largest scale: one pixel of the work takes two CSS pixels, but the scale is at least 2. */
export function maxScale(work: Size, fit: Size): number {
  return Math.max(2, (2 * work.width) / fit.width);
}

/**
 * Limits a transform to the allowed scales, and its offset so that the work covers the stage or is centred where it is
 * smaller.
 */
export function clampTransform(transform: Transform, work: Size, stage: Size): Transform {
  const fit = fitSize(work, stage);
  const scale = Math.min(Math.max(transform.scale, 1), maxScale(work, fit));
  const within = (at: number, shown: number, stageLength: number) => {
    const free = Math.max(0, (shown * scale - stageLength) / 2);
    return free && Math.min(Math.max(at, -free), free);
  };
  return {
    scale,
    x: within(transform.x, fit.width, stage.width),
    y: within(transform.y, fit.height, stage.height),
  };
}

/** Zooms by a factor and keeps the point `at` of the stage, relative to its centre, in its place. */
export function zoomAt(
  transform: Transform,
  factor: number,
  at: { x: number; y: number },
  work: Size,
  stage: Size,
): Transform {
  const { scale } = clampTransform({ ...transform, scale: transform.scale * factor }, work, stage);
  const by = scale / transform.scale;
  return clampTransform(
    { scale, x: at.x - (at.x - transform.x) * by, y: at.y - (at.y - transform.y) * by },
    work,
    stage,
  );
}

const TILE = 1024; // pixels
export type Tile = { column: number; row: number };

/** The tiles of the full-size picture that are visible on the stage. */
export function visibleTiles(transform: Transform, work: Size, stage: Size): Tile[] {
  const fit = fitSize(work, stage);
  const pixel = work.width / (fit.width * transform.scale);
  const range = (size: number, stageLength: number, at: number) => {
    const from = size / 2 - (stageLength / 2 + at) * pixel;
    const first = Math.max(0, Math.floor(from / TILE));
    const last =
      Math.min(Math.ceil(size / TILE), Math.ceil((from + stageLength * pixel) / TILE)) - 1;
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
  };
  const columns = range(work.width, stage.width, transform.x);
  return range(work.height, stage.height, transform.y).flatMap((row) =>
    columns.map((column) => ({ column, row })),
  );
}

/** Position and size of a tile in per cent of the work. */
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
