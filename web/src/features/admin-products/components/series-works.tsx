import { useState } from "react";
import { ArrowUpToLine, FolderMinus, FolderPlus, ImageUp, Pencil, Plus } from "lucide-react";
import { useWorkIds } from "@/features/admin-products/api/list-products";
import {
  useChangeSeries,
  useMoveSeriesWorks,
  usePairs,
} from "@/features/admin-products/api/series";
import { BarButton, StepButtons, WallBar } from "@/features/admin-products/components/wall-bar";
import { ProductDialog } from "@/features/admin-products/components/product-dialog";
import { ProductWall } from "@/features/admin-products/components/product-wall";
import { SeriesDialog } from "@/features/admin-products/components/series-dialog";
import { readView } from "@/features/admin-products/list-view";
import { initialFormState } from "@/features/admin-products/schema";
import { initialSeriesState } from "@/features/admin-products/series-schema";
import type { RevisionPair } from "@/features/admin-products/series-versions";
import { SearchField } from "@/components/form/search-field";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { errorToast } from "@/lib/error-toast";
import { useDraftDialog } from "@/lib/editing/use-draft-dialog";
import { useUndo } from "@/lib/editing/use-undo";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { MoveArgs, Product, Series } from "@/lib/types";

const iconProps = { "aria-hidden": true, size: 20, strokeWidth: 1.75 } as const;

type SeriesWorksProps = {
  series: Series;
  /** Called with the id of a new series: the dialog also opens the draft of a new series that was typed on the page with the list. */
  onCreated(id: string): void;
};

/**
 * The page with the works of one series (works that the owner shows together). A wall (a grid of pictures) shows the works in the order
 * of the series. While the owner adds works, another wall shows the works that are not in the series.
 */
export function SeriesWorks({ series, onCreated }: SeriesWorksProps) {
  const t = useT();
  const pairsQuery = usePairs(series.id);
  const [isAdding, setIsAdding] = useState(false);
  const productDialog = useDraftDialog("products", initialFormState(null));
  const seriesDialog = useDraftDialog("series", initialSeriesState(null));
  const onEdit = (product: Product) => productDialog.open(initialFormState(product));

  return (
    <AdminPage
      title={t(isAdding ? "series.addTo" : "series.worksOf", { title: series.title })}
      action={
        isAdding ? (
          <Button onClick={() => setIsAdding(false)}>{t("series.done")}</Button>
        ) : (
          <>
            <Button variant="outline" onClick={() => seriesDialog.open(initialSeriesState(series))}>
              <Pencil {...iconProps} />
              {t("series.editTexts")}
            </Button>
            <Button onClick={() => setIsAdding(true)}>
              <Plus {...iconProps} />
              {t("series.addWorks")}
            </Button>
          </>
        )
      }
    >
      {!isAdding && (
        <p className="mb-5">
          <TextLink to="/admin/series">{t("series.all")}</TextLink>
        </p>
      )}
      {isAdding ? (
        <PickWall series={series} pairs={pairsQuery.data ?? []} onEdit={onEdit} />
      ) : (
        <AdminListState
          query={pairsQuery}
          empty={t("series.noWorks")}
          emptyAction={
            <Button onClick={() => setIsAdding(true)}>
              <Plus {...iconProps} />
              {t("series.addWorks")}
            </Button>
          }
        >
          {(rows) => <OrderWall series={series} pairs={rows} onEdit={onEdit} />}
        </AdminListState>
      )}
      <ProductDialog key={`work ${productDialog.round}`} {...productDialog.dialog} />
      <SeriesDialog
        key={`series ${seriesDialog.round}`}
        {...seriesDialog.dialog}
        onCreated={onCreated}
      />
    </AdminPage>
  );
}

type WallProps = {
  series: Series;
  pairs: readonly RevisionPair[];
  onEdit(product: Product): void;
};

/** The works of the series. The owner orders and removes them, and chooses the one whose picture is the cover of the series. */
function OrderWall({ series, pairs, onEdit }: WallProps) {
  const t = useT();
  const undoButton = useUndo();
  const changeSeries = useChangeSeries();
  const movePairs = useMoveSeriesWorks(series.id);
  const pairIds = new Map(pairs.map(({ id, product_id }) => [product_id, id]));
  const showFailure = () => errorToast(t, t("wall.failed"));

  /** The arguments of a move of works as those of a move of pairs. */
  const ofPairs = (args: MoveArgs): MoveArgs => {
    const ids = args.ids.map((id) => pairIds.get(id)!);
    return args.target === null
      ? { ...args, ids }
      : { ...args, ids, target: pairIds.get(args.target)! };
  };

  function remove(workIds: readonly string[]) {
    changeSeries.removeWorks(series.id, workIds).then(
      (removed) =>
        stackedToast({
          title: t("series.toast.removed", { n: removed.length }),
          action: undoButton(() => changeSeries.restorePairs(removed)),
        }),
      showFailure,
    );
  }

  function setCover(workId: string) {
    const before = series.cover_id;
    changeSeries.update(series, { cover_id: workId }).then(
      (saved) =>
        stackedToast({
          title: t("series.toast.updated"),
          action: undoButton(() => changeSeries.update(saved, { cover_id: before })),
        }),
      showFailure,
    );
  }

  return (
    <ProductWall
      ids={pairs.map(({ product_id }) => product_id)}
      canMove
      onEdit={onEdit}
      saveMove={(args) => movePairs(ofPairs(args))}
      renderBar={(bar) => (
        <WallBar {...bar}>
          <BarButton onClick={() => remove(bar.ids)}>
            <FolderMinus {...iconProps} />
            {t("series.remove")}
          </BarButton>
          {bar.ids.length === 1 && (
            <BarButton onClick={() => setCover(bar.ids[0]!)}>
              <ImageUp {...iconProps} />
              {t("series.makeCover")}
            </BarButton>
          )}
          <BarButton onClick={bar.onFirst}>
            <ArrowUpToLine {...iconProps} />
            {t("wall.first")}
          </BarButton>
          <StepButtons onStep={bar.onStep} />
        </WallBar>
      )}
    />
  );
}

/** The works that are not in the series yet. */
function PickWall({ series, pairs, onEdit }: WallProps) {
  const t = useT();
  const undoButton = useUndo();
  const changeSeries = useChangeSeries();
  const [q, setQ] = useState("");
  const view = { ...readView(new URLSearchParams()), q, sort: "manual" as const };
  const works = useWorkIds(view, true);
  const inSeries = new Set(pairs.map(({ product_id }) => product_id));

  function add(workIds: readonly string[]) {
    changeSeries.add(series.id, workIds).then(
      (added) =>
        stackedToast({
          title: t("series.toast.worksAdded", { n: added.length }),
          action: undoButton(() => changeSeries.removePairs(added)),
        }),
      () => errorToast(t, t("wall.failed")),
    );
  }

  return (
    <>
      <SearchField
        label={t("products.search")}
        q={q}
        onChange={(part) => setQ(part.q)}
        className="mb-5 max-w-[28rem]"
      />
      <AdminListState
        query={{ ...works, data: works.data?.filter((id) => !inSeries.has(id)) }}
        empty={t(q ? "products.noMatch" : "series.allIn")}
      >
        {(ids) => (
          <ProductWall
            ids={ids}
            canMove={false}
            onEdit={onEdit}
            renderBar={(bar) => (
              <WallBar {...bar}>
                <BarButton onClick={() => add(bar.ids)}>
                  <FolderPlus {...iconProps} />
                  {t("series.addThese")}
                </BarButton>
              </WallBar>
            )}
          />
        )}
      </AdminListState>
    </>
  );
}
