import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from "react";
import { Picture } from "@/components/media/picture";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { useChangeProducts } from "@/features/admin-products/api/change-products";
import { useWorksById } from "@/features/admin-products/api/list-products";
import { ChangeDialog } from "@/features/admin-products/components/change-dialog";
import { ChooseSeriesDialog } from "@/features/admin-products/components/choose-series-dialog";
import { SelectionBar } from "@/features/admin-products/components/selection-bar";
import { WallTile } from "@/features/admin-products/components/wall-tile";
import { useChangeWorks } from "@/features/admin-products/hooks/use-change-works";
import { moveTo } from "@/features/admin-products/wall/geometry";
import { placeOf } from "@/lib/place-of";
import { useSelection } from "@/features/admin-products/wall/use-selection";
import { useWallGestures } from "@/features/admin-products/wall/use-wall-gestures";
import { useWallWindow } from "@/features/admin-products/wall/use-wall-window";
import { errorToast } from "@/lib/error-toast";
import type { UndoMove } from "@/lib/editing/undoable-moves";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { imageInfo } from "@/lib/media";
import { stackedToast } from "@/lib/toast";
import type { MoveArgs, Product } from "@/lib/types";

// This file renders the wall: a list of works (rows of products) as pictures in a grid. The owner selects, changes and moves the
// works. The folder `wall` has the geometry of the grid, the gestures and the selection.

type ProductWallProps = {
  /** The ids of all works of the list, in the order of the list. */
  ids: readonly string[];
  /**
   * Whether the owner can move works. Works can be moved in two orders: the owner's order of all works (products.position), and the
   * order of a series. In other orders, such as by title, a move would have no meaning.
   */
  canMove: boolean;
  /** The text shown if `canMove` is false. It tells the owner which order to choose for moving works. */
  moveHint?: string;
  onEdit(work: Product): void;
  /**
   * Saves a move in the order of a series, and resolves with a function that undoes the move. Without `saveMove`, a move changes the
   * owner's order of all works.
   */
  saveMove?(args: MoveArgs): Promise<UndoMove>;
  /** Renders the bar for the selected works. The default is SelectionBar. */
  renderBar?(bar: WallSelection): ReactNode;
};

/** The selected works of a wall, and the actions that a bar offers for them. */
type WallSelection = {
  /** The ids in the order of the wall. */
  ids: string[];
  /** The number of selected works. */
  count: number;
  /** The number of works on the wall. */
  total: number;
  /** Moves the selected works by one place: forwards (1) or backwards (-1). */
  onStep(step: -1 | 1): void;
  /** Moves the selected works to the beginning. */
  onFirst(): void;
  onSelectAll(): void;
  onClear(): void;
};

/** How many works one request fetches at most. */
const BLOCK_SIZE = 48;

/** The wall. The owner uses it by pointer or keyboard. Only the works in or near the window are fetched and rendered. */
export function ProductWall({
  ids,
  canMove,
  moveHint,
  onEdit,
  saveMove,
  renderBar,
}: ProductWallProps) {
  const t = useT();
  const undoButton = useUndo();
  const changeProducts = useChangeProducts();
  const changeWorks = useChangeWorks();
  // The order after a move, while the move is being saved. Null at other times.
  const [movedOrder, setMovedOrder] = useState<readonly string[] | null>(null);
  // The number of the latest move. When an earlier move ends, it shows no toast, and the order on the screen stays.
  const latestMove = useRef(0);
  const order = movedOrder ?? ids;
  const total = order.length;
  const wall = useRef<HTMLUListElement>(null);
  const { grid, first, end } = useWallWindow(wall, total);
  const blocks: string[][] = [];
  for (let from = Math.floor(first / BLOCK_SIZE) * BLOCK_SIZE; from < end; from += BLOCK_SIZE)
    blocks.push(ids.slice(from, from + BLOCK_SIZE));
  const works = useWorksById(blocks);
  const { selected, toggle, select } = useSelection(order);
  // The number of each selected work in the order of selection, from 1.
  const selectionNumbers = useMemo(
    () => new Map([...selected].map((id, index) => [id, index + 1])),
    [selected],
  );
  // The id and the index of the current work, the only one that Tab reaches.
  const [currentId, setCurrentId] = useState<string | null>(null);
  const current = Math.max(0, currentId === null ? 0 : order.indexOf(currentId));
  const [announcement, setAnnouncement] = useState("");
  const [isChanging, setIsChanging] = useState(false);
  const [isChoosingSeries, setIsChoosingSeries] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  const [busy, setBusy] = useState(false);
  // Whether the current work must get the focus once it is rendered.
  const takesFocus = useRef(false);

  const titleOf = (id: string) => works.get(id)?.title ?? "";
  const showFailure = () => errorToast(t, t("wall.failed"));

  /**
   * Moves works to a place of the order (wall/geometry.ts), in the order of the set, and saves it. The server gets the neighbour
   * of the moved works. Returns whether the order changes.
   */
  function move(moved: ReadonlySet<string>, place: number): boolean {
    const newOrder = moveTo(order, moved, place);
    if (moved.size === 0 || newOrder.join() === order.join()) return false;
    const movedIds = [...moved];
    const newIndex = newOrder.indexOf(movedIds[0]!);
    const moveNumber = ++latestMove.current;
    setMovedOrder(newOrder);
    setAnnouncement(
      movedIds.length === 1
        ? t("wall.movedOne", { title: titleOf(movedIds[0]!), n: newIndex + 1, total })
        : t("wall.movedMany", { count: movedIds.length, n: newIndex + 1, total }),
    );
    (saveMove ?? changeProducts.move)(placeOf(newOrder, movedIds))
      .then((undo) => {
        if (moveNumber === latestMove.current)
          stackedToast({ title: t("wall.toast.moved"), action: undoButton(undo) });
      }, showFailure)
      .finally(() => {
        if (moveNumber === latestMove.current) setMovedOrder(null);
      });
    return true;
  }

  const gestures = useWallGestures({
    wall,
    grid,
    total,
    canMove,
    onDrop: (index, place) => {
      const id = order[index]!;
      move(selected.has(id) ? selected : new Set([id]), place);
    },
    onLasso: (indexes) => select(indexes.map((index) => order[index]!)),
    onLongPress: (index) => toggle(order[index]!),
  });
  const draggedId = gestures.draggedIndex === null ? null : order[gestures.draggedIndex]!;

  /** Deletes the selected works. */
  async function remove() {
    const deletedIds = [...selected];
    setBusy(true);
    try {
      await changeProducts.remove(deletedIds);
      stackedToast({
        title: t("wall.toast.deleted", { n: deletedIds.length }),
        action: undoButton(() => changeProducts.undoRemove(deletedIds)),
      });
    } catch {
      showFailure();
    }
    setBusy(false);
    setIsDeleting(false);
  }

  /** Moves the focus to the work at an index, or to the first or last one, and scrolls to it. Returns its id. */
  function goTo(index: number) {
    const target = Math.max(0, Math.min(index, total - 1));
    takesFocus.current = target !== current;
    setCurrentId(order[target]!);
    const top = Math.floor(target / grid.columns) * grid.cell.height;
    const box = wall.current!.getBoundingClientRect();
    // The header covers 90 px at the top of the window, and the bar 120 px at its foot.
    if (box.top + top < 90) window.scrollBy(0, box.top + top - 90);
    else if (box.top + top + grid.cell.height > innerHeight - 120)
      window.scrollBy(0, box.top + top + grid.cell.height - innerHeight + 120);
    return order[target]!;
  }
  // In an effect, because the work may not be rendered before.
  useEffect(() => {
    if (!takesFocus.current) return;
    takesFocus.current = false;
    wall.current
      ?.querySelector<HTMLElement>(`[data-index="${current}"] [data-picture]`)
      ?.focus({ preventScroll: true });
  }, [current, order]);

  /** The number of works by which each key moves. */
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -grid.columns,
    ArrowDown: grid.columns,
    Home: -total,
    End: total,
  };

  /** Moves the selected works, or one work, by a number of places. They keep their order. Returns whether the order changes. */
  function step(moved: ReadonlySet<string>, by: number) {
    const indexes = order.flatMap((id, index) => (moved.has(id) ? [index] : []));
    const place = by < 0 ? indexes[0]! + by : indexes.at(-1)! + 1 + by;
    const inOrder = new Set(indexes.map((index) => order[index]!));
    return move(inOrder, Math.max(0, Math.min(place, total)));
  }

  function onKeyDown(event: KeyboardEvent, index: number) {
    const by = steps[event.key];
    const id = order[index]!;
    if (event.key === "Escape" && selected.size > 0) {
      select([]);
    } else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      select(order);
    } else if (by === undefined) {
      return;
    } else if (event.altKey) {
      if (canMove) takesFocus.current = step(selected.has(id) ? selected : new Set([id]), by);
    } else {
      const to = index + by;
      if (Math.abs(by) === grid.columns && (to < 0 || to >= total)) return;
      if (event.shiftKey && !selected.has(id)) toggle(id);
      const next = goTo(to);
      if (event.shiftKey && !selected.has(next)) toggle(next);
    }
    event.preventDefault();
  }

  function onSelect(index: number, event: MouseEvent) {
    // A click by keyboard has no detail, and ends no gesture.
    if (event.detail > 0 && gestures.endedGesture()) return;
    const id = order[index]!;
    const work = works.get(id);
    const byTouch = (event.nativeEvent as PointerEvent).pointerType === "touch";
    if (byTouch && selected.size === 0 && work) onEdit(work);
    else toggle(id, event.shiftKey);
  }
  function onToggle(work: Product, name: "is_featured" | "in_stock") {
    changeWorks([work.id], { [name]: !work[name] });
  }
  function onFocus(index: number) {
    setCurrentId(order[index] ?? null);
  }
  // The tiles are memoized, so they get functions that stay the same and call the latest handlers.
  const handlers = useRef({ onKeyDown, onSelect, onToggle, onEdit, onFocus });
  useLayoutEffect(() => {
    handlers.current = { onKeyDown, onSelect, onToggle, onEdit, onFocus };
  });
  const tileSelect = useCallback(
    (index: number, event: MouseEvent) => handlers.current.onSelect(index, event),
    [],
  );
  const tileKey = useCallback(
    (event: KeyboardEvent, index: number) => handlers.current.onKeyDown(event, index),
    [],
  );
  const tileFocus = useCallback((index: number) => handlers.current.onFocus(index), []);
  const tileEdit = useCallback((work: Product) => handlers.current.onEdit(work), []);
  const tileToggle = useCallback(
    (work: Product, name: "is_featured" | "in_stock") => handlers.current.onToggle(work, name),
    [],
  );

  // The works near the window, and the one that Tab reaches.
  const renderedIndexes: number[] = [];
  for (let index = first; index < end; index++) renderedIndexes.push(index);
  if (current < first) renderedIndexes.unshift(current);
  else if (current >= end && current < total) renderedIndexes.push(current);
  const selection: WallSelection = {
    ids: order.filter((id) => selected.has(id)),
    count: selected.size,
    total,
    onStep: (by) => step(selected, by),
    onFirst: () => move(selected, 0),
    onSelectAll: () => select(order),
    onClear: () => select([]),
  };
  const draggedIds =
    draggedId === null ? null : selected.has(draggedId) ? selected : new Set([draggedId]);
  const preview = draggedId === null ? undefined : works.get(draggedId);

  return (
    <>
      <p className="text-ink2 mb-4 max-w-[60em] max-md:hidden">
        {t(canMove ? "wall.intro" : "wall.introSelect")} {!canMove && moveHint}
      </p>
      <p className="text-ink2 mb-4 md:hidden">
        {t(canMove ? "wall.introTouch" : "wall.introTouchSelect")} {!canMove && moveHint}
      </p>
      <ul
        ref={wall}
        aria-label={t("nav.products")}
        onPointerDown={gestures.onPointerDown}
        onDragStart={(event) => event.preventDefault()}
        style={{ height: Math.ceil(total / grid.columns) * grid.cell.height }}
        className="relative -mx-2 select-none"
      >
        {renderedIndexes.map((index) => {
          const id = order[index]!;
          return (
            <WallTile
              key={id}
              work={works.get(id)}
              index={index}
              total={total}
              grid={grid}
              selectionNumber={selectionNumbers.get(id) ?? 0}
              isCurrent={index === current}
              isDragged={draggedIds?.has(id) ?? false}
              canMove={canMove}
              onSelect={tileSelect}
              onKeyDown={tileKey}
              onFocus={tileFocus}
              onEdit={tileEdit}
              onToggle={tileToggle}
            />
          );
        })}
        {draggedIds && (
          <li
            ref={gestures.placeMark}
            aria-hidden="true"
            style={{ height: grid.cell.height - 12 }}
            className="bg-indigo pointer-events-none absolute top-0 left-0 z-10 w-[3px]"
          />
        )}
        {gestures.isLassoing && (
          <li aria-hidden="true" className="pointer-events-none absolute top-0 left-0 z-10">
            <div
              ref={gestures.lassoBox}
              className="border-indigo bg-indigo-tint/50 absolute top-0 left-0 border"
            />
          </li>
        )}
      </ul>
      {draggedIds && (
        <div
          ref={gestures.preview}
          aria-hidden="true"
          className="bg-pop shadow-pop outline-indigo pointer-events-none fixed top-0 left-0 z-50 grid size-24 place-items-center p-1 outline-3 will-change-transform"
        >
          {preview?.image_url && (
            <Picture
              src={preview.image_url}
              alt=""
              info={imageInfo(preview, preview.image_url)}
              sizes={[["", "96px"]]}
              className="max-h-full max-w-full object-contain"
            />
          )}
          {draggedIds.size > 1 && (
            <span className="bg-indigo text-on-indigo absolute -top-2 -right-2 grid h-7 min-w-7 place-items-center px-1.5 lining-nums">
              {draggedIds.size}
            </span>
          )}
        </div>
      )}
      <p role="status" className="sr-only">
        {announcement}
      </p>
      {selected.size > 0 &&
        (renderBar ? (
          renderBar(selection)
        ) : (
          <SelectionBar
            {...selection}
            works={[...selected].flatMap((id) => works.get(id) ?? [])}
            canMove={canMove}
            onChange={(values) => changeWorks([...selected], values)}
            onEditAll={() => setIsChanging(true)}
            onSeries={() => setIsChoosingSeries(true)}
            onDelete={() => setIsDeleting(true)}
          />
        ))}
      <ChooseSeriesDialog
        open={isChoosingSeries}
        workIds={selection.ids}
        onClose={() => setIsChoosingSeries(false)}
      />
      <ChangeDialog
        open={isChanging}
        onSave={(values) => changeWorks([...selected], values)}
        onClose={() => setIsChanging(false)}
      />
      <ConfirmDialog
        open={isDeleting}
        onOpenChange={setIsDeleting}
        title={t("wall.deleteTitle")}
        question={t("wall.deleteQuestion", { n: selected.size })}
        onConfirm={() => void remove()}
        busy={busy}
      />
    </>
  );
}
