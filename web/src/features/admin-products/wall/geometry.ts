// The geometry of the wall (the admin area's list of works as pictures): a grid of equal cells with one work each. Indexes are
// computed from coordinates, without measuring elements. A place is a gap to which works can be dragged: place n is before the work
// with index n, and the last place is after all works.

/** The number of columns, and the size of a cell in CSS pixels. */
export type Grid = { columns: number; cell: { width: number; height: number } };
/** A point in CSS pixels from the top left corner of the wall. */
export type Point = { x: number; y: number };

/** The smallest width of a cell. Two columns fit on a phone of 360 px. */
const MIN_CELL_PX = 156;
/** The height of the part of a cell below the picture: the title, the type and the switches. */
export const CAPTION_PX = 116;

/** The grid of a wall of this width in CSS pixels. The box of a picture is a square, with the caption below. */
export function gridOf(width: number): Grid {
  const columns = Math.max(1, Math.floor(width / MIN_CELL_PX));
  const cellWidth = width / columns;
  return { columns, cell: { width: cellWidth, height: Math.round(cellWidth) + CAPTION_PX } };
}

/** The number of rows that `total` works take. */
export const rowsOf = (grid: Grid, total: number): number => Math.ceil(total / grid.columns);

/** The index of the work at a point, or of the nearest work if there is none at the point. */
export function indexAt(grid: Grid, { x, y }: Point, total: number): number {
  const column = clamp(Math.floor(x / grid.cell.width), 0, grid.columns - 1);
  const row = Math.max(0, Math.floor(y / grid.cell.height));
  return clamp(row * grid.columns + column, 0, total - 1);
}

/** The place that is nearest to a point. */
export function placeAt(grid: Grid, { x, y }: Point, total: number): number {
  const column = clamp(Math.round(x / grid.cell.width), 0, grid.columns);
  const row = clamp(Math.floor(y / grid.cell.height), 0, Math.max(0, rowsOf(grid, total) - 1));
  return Math.min(row * grid.columns + column, total);
}

/** The top end of the vertical line that marks a place. */
export function markOf({ columns, cell }: Grid, place: number, total: number): Point {
  // If the last row is full, the last place is marked at the end of that row, and not in a new row.
  const isAtRowEnd = place === total && total > 0 && place % columns === 0;
  const column = isAtRowEnd ? columns : place % columns;
  const row = isAtRowEnd ? place / columns - 1 : Math.floor(place / columns);
  return { x: column * cell.width, y: row * cell.height };
}

/** The indexes of the works whose cells a rectangle touches. `a` and `b` are two opposite corners of the rectangle. */
export function indexesIn(grid: Grid, a: Point, b: Point, total: number): number[] {
  const columnOf = (x: number) => clamp(Math.floor(x / grid.cell.width), 0, grid.columns - 1);
  const [left, right] = [columnOf(Math.min(a.x, b.x)), columnOf(Math.max(a.x, b.x))];
  const top = Math.max(0, Math.floor(Math.min(a.y, b.y) / grid.cell.height));
  const bottom = Math.floor(Math.max(a.y, b.y) / grid.cell.height);
  const indexes: number[] = [];
  for (let row = top; row <= Math.min(bottom, rowsOf(grid, total) - 1); row++)
    for (let column = left; column <= right; column++) {
      const index = row * grid.columns + column;
      if (index < total) indexes.push(index);
    }
  return indexes;
}

/** The list after the `moved` items were dropped together at a place, in the order of the set. */
export function moveTo(
  list: readonly string[],
  moved: ReadonlySet<string>,
  place: number,
): string[] {
  const stays = (id: string) => !moved.has(id);
  return [...list.slice(0, place).filter(stays), ...moved, ...list.slice(place).filter(stays)];
}

const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(value, max));
