import { useCallback, useRef, useState, type KeyboardEvent } from "react";
import { useWorksWithPicture, type WorkWithPicture } from "@/features/admin-covers/api/list-works";
import { SearchField } from "@/components/form/search-field";
import { AdminListState } from "@/components/layout/admin-list-state";
import { Picture } from "@/components/media/picture";
import { Button } from "@/components/ui/button";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { Pager } from "@/components/ui/pager";
import { Skeleton } from "@/components/ui/skeleton";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import { imageInfo, ratioOf } from "@/lib/media";

type WorkPickerProps = {
  open: boolean;
  /** Whether the owner can select more than one work. If not, selecting a work calls onChoose immediately. */
  multiple: boolean;
  /** Whether the selected works are being saved. */
  busy: boolean;
  /** Called with the selected works, in the order in which they were selected. */
  onChoose(works: WorkWithPicture[]): void;
  onClose(): void;
};

/**
 * A dialog in which the owner selects the works whose pictures become covers (the large pictures at the top of the home page).
 * The newest works come first.
 */
export function WorkPicker({ open, onClose, ...rest }: WorkPickerProps) {
  const t = useT();
  return (
    <DialogRoot open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <DialogContent className="max-w-[1120px] p-5 sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-[1.1] font-[310] sm:text-[2rem]">
          {t("covers.fromWorks")}
        </DialogTitle>
        <WorkSelection {...rest} onClose={onClose} />
        <DialogClose />
      </DialogContent>
    </DialogRoot>
  );
}

/**
 * The content of the dialog. It is a separate component, so that it mounts each time the dialog opens, with an empty search text and no
 * selected works.
 */
function WorkSelection({ multiple, busy, onChoose, onClose }: Omit<WorkPickerProps, "open">) {
  const t = useT();
  const [view, setView] = useState({ q: "", page: 1 });
  const [selected, setSelected] = useState<WorkWithPicture[]>([]);
  const works = useWorksWithPicture(view.q, view.page);
  const { data } = works;
  const search = useCallback(({ q }: { q: string }) => setView({ q, page: 1 }), []);
  const top = useRef<HTMLDivElement>(null);

  /** Selects a work. With `multiple`, selecting a selected work again removes it from the selection. */
  function select(work: WorkWithPicture) {
    if (busy) return;
    if (!multiple) {
      setSelected([work]);
      onChoose([work]);
      return;
    }
    setSelected((before) =>
      before.some(({ id }) => id === work.id)
        ? before.filter(({ id }) => id !== work.id)
        : [...before, work],
    );
  }

  return (
    <div ref={top} className="scroll-mt-4" aria-busy={busy}>
      <p className="text-ink2 mt-2">{t(multiple ? "covers.pickSeveral" : "covers.pickOne")}</p>
      <SearchField label={t("products.search")} q={view.q} onChange={search} className="mt-5" />
      <div className="mt-6">
        <AdminListState
          query={{ ...works, data: data?.rows }}
          empty={t(view.q.trim() ? "products.noMatch" : "covers.noWorks")}
          skeleton={<Skeleton className="h-[40vh] w-full" />}
        >
          {(rows) => (
            <WorkGrid
              // Another page starts at its first work.
              key={`${view.page} ${view.q}`}
              works={rows}
              selected={selected}
              multiple={multiple}
              onSelect={select}
            />
          )}
        </AdminListState>
      </div>
      {data && data.total > 0 && (
        <Pager
          page={view.page}
          total={data.total}
          onPage={(page) => {
            setView({ ...view, page });
            top.current?.scrollIntoView({ block: "start" });
          }}
          label={t("products.pages")}
          previousText={t("products.pageBefore")}
          nextText={t("products.pageAfter")}
        >
          {(from, to) => (
            <p role="status" className="text-ink2 lining-nums tabular-nums">
              {t("products.range", { from, to, total: data.total })}
            </p>
          )}
        </Pager>
      )}
      {multiple && (
        <div className="bg-pop border-line sticky -bottom-4 z-10 mt-6 flex flex-wrap justify-end gap-3 border-t py-4">
          <Button variant="outline" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button
            disabled={selected.length === 0}
            loading={busy}
            onClick={() => onChoose(selected)}
          >
            {t("covers.addChosen", { n: selected.length })}
          </Button>
        </div>
      )}
    </div>
  );
}

type WorkGridProps = {
  works: WorkWithPicture[];
  selected: readonly WorkWithPicture[];
  multiple: boolean;
  onSelect(work: WorkWithPicture): void;
};

/** The pictures as buttons. Tab reaches one of them; arrow keys, Home and End lead to the others. */
function WorkGrid({ works, selected, multiple, onSelect }: WorkGridProps) {
  const t = useT();
  const list = useRef<HTMLUListElement>(null);
  const [current, setCurrent] = useState(0);

  function onKeyDown(event: KeyboardEvent) {
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const top = buttons[0]?.offsetTop;
    const columns = Math.max(1, buttons.filter(({ offsetTop }) => offsetTop === top).length);
    const to = (
      {
        ArrowLeft: at - 1,
        ArrowRight: at + 1,
        ArrowUp: at - columns,
        ArrowDown: at + columns,
        Home: 0,
        End: buttons.length - 1,
      } as Record<string, number>
    )[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
  }

  return (
    <ul
      ref={list}
      onKeyDown={onKeyDown}
      className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5"
    >
      {works.map((work, index) => {
        // The number of the work in the selection, from 1; 0 if the work is not selected.
        const place = selected.findIndex(({ id }) => id === work.id) + 1;
        const info = imageInfo(work, work.image_url);
        return (
          <li key={work.id}>
            <button
              type="button"
              tabIndex={index === Math.min(current, works.length - 1) ? 0 : -1}
              aria-pressed={multiple ? place > 0 : undefined}
              aria-label={
                multiple && place > 0
                  ? t("covers.chosenAs", { title: work.title, n: place })
                  : t("covers.chooseWork", { title: work.title })
              }
              onClick={() => onSelect(work)}
              onFocus={() => setCurrent(index)}
              className="group block w-full text-left"
            >
              <span
                className={cn(
                  "bg-shade relative grid aspect-square w-full place-items-center p-2",
                  place > 0 && "bg-indigo-tint outline-indigo outline-3 -outline-offset-3",
                )}
              >
                <Picture
                  src={work.image_url}
                  alt=""
                  info={info}
                  sizes={[
                    ["(min-width:64rem)", "200px"],
                    ["(min-width:40rem)", "30vw"],
                    ["", "42vw"],
                  ]}
                  style={info && { width: `min(100%, ${ratioOf(info) * 100}%)`, height: "auto" }}
                  className={cn("pointer-events-none", !info && "size-full object-contain")}
                />
                {multiple && place > 0 && (
                  // The button's accessible name has the number, so CSS renders the number and it is not text of the button.
                  <span
                    aria-hidden="true"
                    data-place={place}
                    className="bg-indigo text-on-indigo absolute top-2 left-2 grid h-7 min-w-7 place-items-center px-1.5 lining-nums tabular-nums before:content-[attr(data-place)]"
                  />
                )}
              </span>
              <span className="group-hover:text-indigo mt-1 line-clamp-2 leading-snug break-words italic">
                {work.title}
              </span>
            </button>
            {work.is_published === false && (
              <p className="text-ink2 truncate text-sm">{t("covers.unpublished")}</p>
            )}
          </li>
        );
      })}
    </ul>
  );
}
