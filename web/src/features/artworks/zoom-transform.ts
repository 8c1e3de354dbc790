// The geometry of ArtworkZoom: a work on a stage (the visible area). Sizes of works are in pixels of the file. Sizes and offsets of
// the stage are in CSS pixels.

/**
 * How a work is displayed on the stage. At scale 1 the whole work fits into the stage. `x` and `y` are the offset of the work's
 * centre from the stage's centre.
 */
export type Transform = { scale: number; x: number; y: number };
/** The size of a work or of the stage. */
export type Size = { width: number; height: number };

/** The transform that shows the whole work. */
export const fullTransform: Transform = { scale: 1, x: 0, y: 0 };

/** The size of the work at scale 1, in CSS pixels. It fits into the stage and is at most the size of the file. */
export function fitSize(work: Size, stage: Size): Size {
  const factor = Math.min(stage.width / work.width, stage.height / work.height, 1);
  return { width: work.width * factor, height: work.height * factor };
}

/** The maximum scale: the scale at which a pixel of the file takes two CSS pixels, but at least 2. `fit` is the size at scale 1. */
export function maxScale(work: Size, fit: Size): number {
  return Math.max(2, (2 * work.width) / fit.width);
}

/**
 * Limits a transform: the scale to the range from 1 to maxScale, and the offsets so that the work covers the stage. If the work is
 * narrower or lower than the stage, it is centred in that direction.
 */
export function clampTransform(transform: Transform, work: Size, stage: Size): Transform {
  const fit = fitSize(work, stage);
  const scale = Math.min(Math.max(transform.scale, 1), maxScale(work, fit));
  const limitOffset = (offset: number, fitLength: number, stageLength: number) => {
    const limit = Math.max(0, (fitLength * scale - stageLength) / 2);
    return limit && Math.min(Math.max(offset, -limit), limit);
  };
  return {
    scale,
    x: limitOffset(transform.x, fit.width, stage.width),
    y: limitOffset(transform.y, fit.height, stage.height),
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
  const actualFactor = scale / transform.scale; // smaller than `factor` at the limits of the scale
  return clampTransform(
    {
      scale,
      x: at.x - (at.x - transform.x) * actualFactor,
      y: at.y - (at.y - transform.y) * actualFactor,
    },
    work,
    stage,
  );
}

const TILE = 1024; // the length of a tile's side in pixels of the work
/** A tile of the full size, by its column and row from 0. */
export type Tile = { column: number; row: number };

/** The tiles of the full-size picture that are visible on the stage. */
export function visibleTiles(transform: Transform, work: Size, stage: Size): Tile[] {
  const fit = fitSize(work, stage);
  const pixelsPerCssPixel = work.width / (fit.width * transform.scale); // pixels of the work
  const visibleRange = (workLength: number, stageLength: number, offset: number) => {
    const from = workLength / 2 - (stageLength / 2 + offset) * pixelsPerCssPixel;
    const to = from + stageLength * pixelsPerCssPixel;
    const first = Math.max(0, Math.floor(from / TILE));
    const last = Math.min(Math.ceil(workLength / TILE), Math.ceil(to / TILE)) - 1;
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
  };
  const columns = visibleRange(work.width, stage.width, transform.x);
  return visibleRange(work.height, stage.height, transform.y).flatMap((row) =>
    columns.map((column) => ({ column, row })),
  );
}

/** Position and size of a tile in per cent of the work. */
export function tileBox({ column, row }: Tile, work: Size) {
  const percent = (n: number, size: number) => `${((100 * n) / size).toFixed(4)}%`;
  const left = column * TILE;
  const top = row * TILE;
  return {
    left: percent(left, work.width),
    top: percent(top, work.height),
    width: percent(Math.min(TILE, work.width - left), work.width),
    height: percent(Math.min(TILE, work.height - top), work.height),
  };
}
