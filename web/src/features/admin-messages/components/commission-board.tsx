import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import {
  DndContext,
  DragOverlay,
  MouseSensor,
  pointerWithin,
  TouchSensor,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import { useSearchParams } from "react-router";
import { isStageConflict, useBoard, useMoveCard } from "@/features/admin-messages/api/board";
import { useArtworksById } from "@/features/admin-messages/api/get-message-artwork";
import { findCard, needsOffer, STAGES } from "@/features/admin-messages/board";
import { BoardCard, CardFace } from "@/features/admin-messages/components/board-card";
import { BoardColumn, type DropState } from "@/features/admin-messages/components/board-column";
import { BoardOfferDialog } from "@/features/admin-messages/components/board-offer-dialog";
import { BoardTabs } from "@/features/admin-messages/components/board-tabs";
import { OpenedMessage } from "@/features/admin-messages/components/opened-message";
import { asStage, useLiftedCard } from "@/features/admin-messages/hooks/use-lifted-card";
import { useOpenedMessage } from "@/features/admin-messages/hooks/use-opened-message";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { buttonClasses } from "@/components/ui/button-classes";
import { Link } from "@/components/ui/link";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import type {
  BoardCard as CardData,
  BoardColumn as ColumnData,
  CommissionStage,
} from "@/lib/types";
import { useMediaQuery } from "@/lib/use-media-query";

// Constants, so that each render passes the same objects.
const noColumns: ColumnData[] = [];
// Replaces the announcements of dnd-kit to screen readers. The board makes its own, which are the same for moves by keys.
const silentAnnouncements = {
  onDragStart: () => undefined,
  onDragOver: () => undefined,
  onDragEnd: () => undefined,
  onDragCancel: () => undefined,
};
/** A drag by mouse begins after 6 pixels. */
const mouseOptions = { activationConstraint: { distance: 6 } };
/** A drag by finger begins after a long press of 300 ms. A finger that moves more than 8 pixels earlier scrolls the page. */
const touchOptions = { activationConstraint: { delay: 300, tolerance: 8 } };

/** The URL parameter with the stages of which the board shows all cards. Of other stages it shows only the first cards. */
const ALL_PARAM = "all";
/** The URL parameter with the stage that is shown on phones. */
const STAGE_PARAM = "stage";

/**
 * The board: the page with the commissions (works that clients order) as cards, in a column for each stage. The owner moves the cards
 * from stage to stage. A click on a card opens the message with which the client has asked for the commission. On phones the page
 * shows one stage at a time.
 */
export function CommissionBoard() {
  const t = useT();
  // Whether the page shows one stage at a time, as on phones.
  const showsOneStage = useMediaQuery("(width < 48rem)");
  const [search, setSearch] = useSearchParams();
  // The stages of which all cards are shown.
  const expanded = STAGES.filter((stage) => search.getAll(ALL_PARAM).includes(stage));
  const shownStage = asStage(search.get(STAGE_PARAM)) ?? "enquiry";
  const board = useBoard(expanded);
  const columns = board.data ?? noColumns;
  const workIds = useMemo(
    () =>
      [
        ...new Set(columns.flatMap(({ cards }) => cards.flatMap((card) => card.artwork_id ?? []))),
      ].toSorted(),
    [columns],
  );
  const works = useArtworksById(workIds).data;
  const { openedId, open, close } = useOpenedMessage(true); // true: the message is always in a dialog
  const { mutateAsync: saveMove } = useMoveCard();
  const [announcement, setAnnouncement] = useState("");
  // The enquiry for which the form for an offer is open; null for none.
  const [offering, setOffering] = useState<CardData | null>(null);
  // The message id of the card that was just moved. The card gets the focus in its new column.
  const focusedCard = useRef<string | null>(null);

  const stageName = (stage: CommissionStage) => t(`commission.stage.${stage}`);

  /** Says why a card stays where it is. */
  function refuse(description: string) {
    setAnnouncement(description);
    errorToast(t, description);
  }

  function move(card: CardData, { stage: from }: ColumnData, to: CommissionStage) {
    focusedCard.current = card.message_id;
    setAnnouncement(t("board.moved", { name: card.name, stage: stageName(to) }));
    saveMove({ card, from, to }).catch((error: Error) =>
      refuse(isStageConflict(error) ? t("board.conflict", { name: card.name }) : messageOf(error)),
    );
  }

  function drop(card: CardData, column: ColumnData, to: CommissionStage | null) {
    if (to === null || to === column.stage) stay(card, column);
    else if (!column.next.includes(to))
      refuse(
        t("board.refused", {
          name: card.name,
          from: stageName(column.stage),
          to: stageName(to),
        }),
      );
    else if (needsOffer(column.stage, to)) setOffering(card);
    else move(card, column, to);
  }

  function stay(card: CardData, column: ColumnData) {
    setAnnouncement(t("board.stays", { name: card.name, stage: stageName(column.stage) }));
  }

  const { lifted, lift, moveOver, dropAt, cancel, handleKey } = useLiftedCard({
    onLift: (card) => setAnnouncement(t("board.lifted", { name: card.name })),
    onOver: (stage) => setAnnouncement(stageName(stage)),
    onDrop: drop,
    onCancel: stay,
    onNoStage: (card, column) =>
      refuse(t("board.nowhere", { name: card.name, stage: stageName(column.stage) })),
  });
  const sensors = useSensors(
    useSensor(MouseSensor, mouseOptions),
    useSensor(TouchSensor, touchOptions),
  );

  // A moved card is another element in its new column, so the focus follows it. On phones that column is not shown.
  useEffect(() => {
    const id = focusedCard.current;
    if (id === null || !findCard(columns, id)) return;
    focusedCard.current = null;
    const card = document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"] button`);
    (card ?? document.querySelector<HTMLElement>("[data-stage] h2"))?.focus({
      preventScroll: card === null,
    });
  }, [columns]);

  function dropStateOf(stage: CommissionStage): DropState {
    if (!lifted) return null;
    if (stage === lifted.column.stage) return "source";
    return lifted.column.next.includes(stage) ? "open" : "closed";
  }

  function allSearch(stage: CommissionStage): string | null {
    if (expanded.includes(stage)) return null;
    const next = new URLSearchParams(search);
    next.append(ALL_PARAM, stage);
    next.delete("message");
    return next.toString();
  }

  function showStage(stage: CommissionStage) {
    setSearch(
      (now) => {
        const next = new URLSearchParams(now);
        next.set(STAGE_PARAM, stage);
        return next;
      },
      { replace: true },
    );
  }

  const total = columns.reduce((sum, column) => sum + column.total, 0);
  const isOver = (stage: CommissionStage) => lifted?.over === stage;
  const liftedWork = lifted?.card.artwork_id ? works?.[lifted.card.artwork_id] : undefined;

  const renderColumn = (column: ColumnData) => (
    <BoardColumn
      key={column.stage}
      column={column}
      dropState={dropStateOf(column.stage)}
      isOver={isOver(column.stage)}
      bare={showsOneStage}
      allSearch={allSearch(column.stage)}
    >
      {column.cards.map((card) => (
        <BoardCard
          key={card.message_id}
          card={card}
          column={column}
          work={card.artwork_id ? works?.[card.artwork_id] : undefined}
          lifted={lifted?.card.message_id === card.message_id}
          onOpen={() => open(card.message_id)}
          onKeyDown={(event) => {
            if (handleKey(event, card, column)) event.preventDefault();
            else moveFocus(event);
          }}
          onBlur={() => {
            if (lifted?.byKey) cancel();
          }}
          onMove={(to) => drop(card, column, to)}
        />
      ))}
    </BoardColumn>
  );

  return (
    <AdminPage
      title={t("board.title")}
      action={
        <Link
          to="/admin/contact-messages"
          className={buttonClasses({ variant: "outline", size: "sm", className: "self-start" })}
        >
          {t("messages.back")}
        </Link>
      }
    >
      <AdminListState
        query={{ ...board, data: board.data && (total > 0 ? columns : noColumns) }}
        empty={t("board.empty")}
      >
        {(shown) => (
          <DndContext
            sensors={sensors}
            collisionDetection={pointerWithin}
            // On phones the tabs are always visible, so nothing has to scroll.
            autoScroll={!showsOneStage}
            accessibility={{
              announcements: silentAnnouncements,
              screenReaderInstructions: { draggable: t("board.help") },
            }}
            onDragStart={({ active }) => {
              const found = findCard(columns, String(active.id));
              if (found) lift(found.card, found.column, false);
            }}
            onDragOver={({ over }) => moveOver(asStage(over?.id))}
            onDragEnd={({ over }) => dropAt(asStage(over?.id))}
            onDragCancel={cancel}
          >
            <p className="text-ink2 mb-4 max-w-[60em] max-md:hidden">{t("board.intro")}</p>
            <p className="text-ink2 mb-3 text-sm md:hidden">{t("board.introTouch")}</p>
            {showsOneStage ? (
              <>
                <BoardTabs
                  columns={shown}
                  shownStage={shownStage}
                  overStage={lifted?.over ?? null}
                  dropStateOf={dropStateOf}
                  onShow={showStage}
                />
                {shown.filter(({ stage }) => stage === shownStage).map(renderColumn)}
              </>
            ) : (
              <div
                // A snap would fight the scrolling of a drag at the edge.
                className={`relative -mx-2 grid scroll-px-2 auto-cols-[minmax(12rem,1fr)] grid-flow-col gap-3 overflow-x-auto px-2 pb-2 ${lifted ? "" : "snap-x snap-proximity"}`}
              >
                {shown.map(renderColumn)}
              </div>
            )}
            <DragOverlay dropAnimation={null}>
              {lifted && !lifted.byKey && (
                <div className="bg-pop shadow-pop outline-indigo max-w-[22rem] cursor-grabbing p-2 outline-3">
                  <CardFace
                    card={lifted.card}
                    stage={lifted.column.stage}
                    title={liftedWork?.title}
                  />
                </div>
              )}
            </DragOverlay>
          </DndContext>
        )}
      </AdminListState>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      <BoardOfferDialog
        card={offering}
        onSent={() => setOffering(null)}
        onMoveOnly={() => {
          const found = offering && findCard(columns, offering.message_id);
          setOffering(null);
          if (found) move(found.card, found.column, "offer");
        }}
        onClose={() => setOffering(null)}
      />
      <OpenedMessage id={openedId} back={t("board.back")} onClose={close} />
    </AdminPage>
  );
}

/** Moves the focus from card to card: up and down in a column, left and right to the next column that has cards. */
function moveFocus(event: KeyboardEvent) {
  const card = event.currentTarget.closest("[data-card]")!;
  const column = card.closest("[data-stage]")!;
  const cardsOf = (element: Element) => [...element.querySelectorAll("[data-card]")];
  const at = cardsOf(column).indexOf(card);
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if ((!step && !side) || event.altKey || event.ctrlKey || event.metaKey) return;
  let next: Element | undefined;
  if (step) next = cardsOf(column)[at + step];
  else if (side) {
    const others = [...document.querySelectorAll("[data-stage]")];
    for (let i = others.indexOf(column) + side; others[i] && !next; i += side) {
      const cards = cardsOf(others[i]!);
      next = cards[Math.min(at, cards.length - 1)];
    }
  }
  if (!next) return;
  event.preventDefault();
  next.querySelector<HTMLElement>("button")?.focus();
}
