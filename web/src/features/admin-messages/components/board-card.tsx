import { useState, type KeyboardEvent } from "react";
import { useDraggable } from "@dnd-kit/core";
import { ArrowRightLeft, CalendarDays } from "lucide-react";
import * as Menu from "radix-ui/dropdown-menu";
import { isOverdue } from "@/features/admin-messages/board";
import { RowArtwork } from "@/features/admin-messages/components/row-artwork";
import { Badge } from "@/components/ui/badge";
import { IconButton } from "@/components/ui/icon-button";
import { cn } from "@/lib/cn";
import { useLanguage, useT } from "@/lib/i18n";
import { localDay, relativeTime, shortDate } from "@/lib/owner-dates";
import type { BoardCard as CardData, BoardColumn, CommissionStage, Product } from "@/lib/types";

/** The work (a row of products) that the client's message asks about. */
type AskedWork = Pick<Product, "image_url" | "media" | "title">;

type BoardCardProps = {
  card: CardData;
  /** The column of the card. Its `next` has the stages to which the card can be moved. */
  column: BoardColumn;
  work?: AskedWork;
  /** Whether the card is picked up, by the pointer or by a key. */
  lifted: boolean;
  onOpen(): void;
  /** Called for keys on the card's button, and when the button loses the focus. The board moves the card by these keys. */
  onKeyDown(event: KeyboardEvent): void;
  onBlur(): void;
  /** Called when the owner has chosen a stage in the card's menu. */
  onMove(to: CommissionStage): void;
};

/**
 * The card of a commission (a work that a client orders) on the board. Each commission belongs to the message with which the client
 * has asked for it, so the id of the message is also the id of the card. The owner moves the card to another stage by mouse, by finger
 * after a long press, by keys, or by its menu.
 */
export function BoardCard({
  card,
  column,
  work,
  lifted,
  onOpen,
  onKeyDown,
  onBlur,
  onMove,
}: BoardCardProps) {
  const t = useT();
  const { setNodeRef, listeners, attributes } = useDraggable({ id: card.message_id });
  return (
    <li
      ref={setNodeRef}
      {...listeners}
      data-card={card.message_id}
      onDragStart={(event) => event.preventDefault()} // the browser would drag the picture; dnd-kit drags the card
      className={cn(
        "border-line hover:bg-shade relative flex cursor-grab gap-2 border-b select-none [-webkit-touch-callout:none] active:cursor-grabbing",
        lifted && "bg-indigo-tint outline-indigo outline-2 -outline-offset-2 outline-dashed",
      )}
    >
      <button
        type="button"
        onClick={onOpen}
        onKeyDown={onKeyDown}
        onKeyUp={(event) => {
          if (event.key === " ") event.preventDefault(); // Firefox would click the button, but the space bar lifts the card
        }}
        onBlur={onBlur}
        aria-describedby={attributes["aria-describedby"]}
        className="min-w-0 flex-1 cursor-[inherit] self-start py-3 pl-2 text-left after:absolute after:inset-0 focus-visible:-outline-offset-3"
      >
        <CardFace card={card} stage={column.stage} title={work?.title} />
      </button>
      {/* The picture is below the menu, so that the texts have more width. */}
      <span className="flex flex-none flex-col items-end pb-3">
        {column.next.length > 0 && (
          <MoveMenu
            label={t("board.moveTo", { name: card.name })}
            next={column.next}
            onMove={onMove}
          />
        )}
        {work && <RowArtwork work={work} />}
      </span>
    </li>
  );
}

type CardFaceProps = {
  card: CardData;
  stage: CommissionStage;
  /** The title of the work that was asked about. */
  title?: string;
};

/** The texts on a card. The preview that follows the pointer during a drag shows them too. */
export function CardFace({ card, stage, title }: CardFaceProps) {
  const t = useT();
  const { language } = useLanguage();
  const day = shortDate(card.promised_on, language);
  const [today] = useState(() => localDay(new Date().toISOString()));
  const overdue = isOverdue(stage, card.promised_on, today);
  return (
    <>
      <span
        className={cn(
          "line-clamp-3 leading-6 break-words",
          card.unread ? "font-[650]" : "font-[520]",
        )}
      >
        {card.name}
      </span>
      {card.unread && (
        <Badge tone="ochre" className="my-1">
          {t("status.new")}
        </Badge>
      )}
      {title && <span className="block truncate text-sm leading-6 italic">{title}</span>}
      {card.price && <span className="block text-sm leading-6 break-words">{card.price}</span>}
      {card.promised_on && (
        <span
          className={cn(
            "flex items-start gap-1.5 text-sm leading-6",
            overdue && "text-danger font-[520]",
          )}
        >
          <CalendarDays
            aria-hidden="true"
            size={17}
            strokeWidth={1.75}
            className="mt-[3px] flex-none"
          />
          {t(overdue ? "board.overdue" : "board.promised", { day })}
        </span>
      )}
      <span className="text-ink2 block text-sm leading-6">
        {relativeTime(card.created_at, language)}
      </span>
    </>
  );
}

type MoveMenuProps = {
  label: string;
  next: readonly CommissionStage[];
  onMove(to: CommissionStage): void;
};

/** The stages to which a card can be moved, as a menu. */
function MoveMenu({ label, next, onMove }: MoveMenuProps) {
  const t = useT();
  const [chosen, setChosen] = useState(false);
  return (
    <Menu.Root
      modal={false}
      onOpenChange={(open) => {
        if (open) setChosen(false);
      }}
    >
      <Menu.Trigger asChild>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={label}
          // Mouse and touch events on the button must not begin a drag of the card.
          onMouseDown={(event) => event.stopPropagation()}
          onTouchStart={(event) => event.stopPropagation()}
          className="relative z-10 mt-1 flex-none"
        >
          <ArrowRightLeft aria-hidden="true" size={18} strokeWidth={1.75} />
        </IconButton>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content
          align="end"
          sideOffset={4}
          onCloseAutoFocus={(event) => {
            if (chosen) event.preventDefault(); // the board focuses the card where it is then
          }}
          className="bg-pop pop-shadow border-band data-[state=open]:animate-fade-in z-60 w-[232px] rounded-sm border-b-6"
        >
          <Menu.Label className="text-ink2 px-4 pt-3 pb-1 text-sm">
            {t("board.moveLabel")}
          </Menu.Label>
          {next.map((stage) => (
            <Menu.Item
              key={stage}
              onSelect={() => {
                setChosen(true);
                onMove(stage);
              }}
              className="data-highlighted:bg-indigo-tint nav-text flex h-[46px] cursor-pointer items-center px-4 outline-none"
            >
              {t(`commission.stage.${stage}`)}
            </Menu.Item>
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
