import { History, ImageOff, Images, Pencil, Trash2 } from "lucide-react";
import { useSeriesOrder } from "@/features/admin-products/hooks/use-series-order";
import { Picture } from "@/components/media/picture";
import { Badge } from "@/components/ui/badge";
import { buttonClasses } from "@/components/ui/button-classes";
import { IconButton } from "@/components/ui/icon-button";
import { Link } from "@/components/ui/link";
import { MoveButtons, SortableList, SortableRow } from "@/components/ui/sortable";
import { useT } from "@/lib/i18n";
import { imageInfo } from "@/lib/media";
import type { Series } from "@/lib/types";

/** The handlers of the buttons of a series. */
type SeriesActions = {
  onEdit(series: Series): void;
  onHistory(series: Series): void;
  onDelete(series: Series): void;
};

const iconProps = { "aria-hidden": true, size: 21, strokeWidth: 1.5 } as const;

/**
 * The list of all series (works that the owner shows together) in the owner's order. The owner moves a row by dragging it, by keys on
 * its drag handle, or by its arrow buttons.
 */
export function SeriesList({ series, ...actions }: { series: Series[] } & SeriesActions) {
  const t = useT();
  const { rows, move, announcement } = useSeriesOrder(series);
  return (
    <>
      <p className="text-ink2 max-w-[60em] md:-mt-1.5">{t("series.intro")}</p>
      <SortableList
        rows={rows}
        move={move}
        announcement={announcement}
        movedText={({ title }, n) => t("series.moved", { title, n, total: rows.length })}
        dragHelp={t("series.dragHelp")}
        renderRow={(row, index) => (
          <SeriesRow
            key={row.id}
            series={row}
            index={index}
            total={rows.length}
            onMove={(to) => move(row.id, to)}
            {...actions}
          />
        )}
      />
    </>
  );
}

type SeriesRowProps = SeriesActions & {
  series: Series;
  /** The index of the series among the `total` series of the list. */
  index: number;
  total: number;
  /** Moves the series to another index. */
  onMove(to: number): void;
};

/** One series in the list, with its drag handle and buttons. */
function SeriesRow({ series, index, total, onMove, onEdit, onHistory, onDelete }: SeriesRowProps) {
  const t = useT();
  const { title } = series;
  return (
    <SortableRow
      id={series.id}
      index={index}
      dragLabel={t("series.drag", { title })}
      className="grid-cols-[44px_72px_minmax(0,1fr)] lg:grid-cols-[44px_72px_minmax(0,1fr)_auto]"
    >
      <span className="bg-shade grid size-[72px] place-items-center p-1">
        {series.image_url ? (
          <Picture
            src={series.image_url}
            alt=""
            info={imageInfo(series, series.image_url)}
            sizes={[["", "64px"]]}
            className="max-h-16 max-w-full object-contain"
          />
        ) : (
          <ImageOff {...iconProps} className="text-ink2" />
        )}
      </span>
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2.5 leading-[1.4] font-[570] wrap-anywhere">
          {title}
          {!series.is_published && (
            <Badge tone="neutral" className="font-[430]">
              {t("series.hidden")}
            </Badge>
          )}
        </p>
        <p className="text-ink2 text-sm wrap-anywhere">/gallery/all?series={series.slug}</p>
      </div>
      <div className="col-span-3 flex flex-wrap items-center justify-end lg:col-span-1 lg:gap-0.5">
        <Link
          to={`/admin/series?works=${series.id}`}
          aria-label={t("series.worksOf", { title })}
          className={buttonClasses({
            variant: "outline",
            size: "sm",
            className: "mr-auto lg:mr-4",
          })}
        >
          <Images {...iconProps} />
          {t("series.works")}
        </Link>
        <MoveButtons
          index={index}
          total={total}
          upLabel={t("series.up", { title })}
          downLabel={t("series.down", { title })}
          onMove={onMove}
        />
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("series.editNamed", { title })}
          onClick={() => onEdit(series)}
        >
          <Pencil {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("history.ofNamed", { name: title })}
          onClick={() => onHistory(series)}
        >
          <History {...iconProps} />
        </IconButton>
        <IconButton
          size="iconSm"
          variant="ghost"
          label={t("series.deleteNamed", { title })}
          onClick={() => onDelete(series)}
        >
          <Trash2 {...iconProps} />
        </IconButton>
      </div>
    </SortableRow>
  );
}
