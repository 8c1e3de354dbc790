import type { ReactNode } from "react";
import { ArrowDown, ArrowUp, Copy, History, ImageOff, Pencil, Trash2 } from "lucide-react";
import { WorkSwitches, type SwitchName } from "@/features/admin-products/components/work-switches";
import { VisibilityBadge } from "@/features/admin-products/components/visibility-badge";
import { Picture } from "@/components/media/picture";
import { Badge } from "@/components/ui/badge";
import { IconButton } from "@/components/ui/icon-button";
import { Switch } from "@/components/ui/switch";
import { fitWithin } from "@/components/upload/fit-within";
import { useBoot } from "@/lib/boot";
import { shortDate } from "@/lib/owner-dates";
import { useLanguage, useT } from "@/lib/i18n";
import { imageInfo } from "@/lib/media";
import type { Product } from "@/lib/types";
import { cn } from "@/lib/cn";
import type { Sort } from "@/features/admin-products/list-view";

type ProductListProps = {
  products: Product[];
  sort: Sort;
  onSort(sort: Sort): void;
  /** Changes a switch of a work immediately. */
  onToggle(product: Product, name: SwitchName): void;
  onEdit(product: Product): void;
  onDuplicate(product: Product): void;
  onHistory(product: Product): void;
  onDelete(product: Product): void;
};

/**
 * One page of the list of works (rows of products) as a table. On phones the works are cards. Both layouts are rendered, and CSS
 * hides one of them. The pictures of the hidden layout are not loaded.
 */
export function ProductList(props: ProductListProps) {
  return (
    <>
      <ProductTable {...props} />
      <ProductCards {...props} />
    </>
  );
}

/** The works as a table, for wide windows. */
function ProductTable({ products, sort, onSort, onToggle, ...handlers }: ProductListProps) {
  const t = useT();
  const { language } = useLanguage();
  const wideOnlyClassName = "hidden lg:table-cell";
  return (
    <table className="hidden w-full border-collapse text-left lining-nums tabular-nums md:table">
      <thead className="border-ink border-b-2">
        <tr>
          <Head className="w-[77px]">
            <span className="sr-only">{t("products.thumbnail")}</span>
          </Head>
          <SortHead sort={sort} onSort={onSort} ascending="title" descending="title-desc">
            {t("products.title")}
          </SortHead>
          <SortHead sort={sort} onSort={onSort} ascending="type">
            {t("gallery.type")}
          </SortHead>
          <Head className={wideOnlyClassName}>{t("gallery.dimensions")}</Head>
          <Head>{t("products.featuredBadge")}</Head>
          <Head>{t("products.inStock")}</Head>
          <SortHead
            sort={sort}
            onSort={onSort}
            ascending="date"
            descending="date-desc"
            className={wideOnlyClassName}
          >
            {t("products.created")}
          </SortHead>
          <Head>
            <span className="sr-only">{t("products.actions")}</span>
          </Head>
        </tr>
      </thead>
      <tbody>
        {products.map((product) => (
          <tr key={product.id} className="border-line border-b">
            <td className="py-[11px]">
              <Thumbnail product={product} />
            </td>
            {/* Without the minimum width, other columns would squeeze short titles until their words break. */}
            <th
              scope="row"
              className="min-w-36 wrap-anywhere py-2 pr-4 text-[1.25rem] leading-[1.2] font-[430] italic"
            >
              {product.title}
              <span className="mt-1 flex flex-wrap items-center gap-x-2 not-italic empty:hidden">
                <VisibilityBadge product={product} />
              </span>
            </th>
            <Cell>
              {t(`type.${product.artwork_type}`)}
              <NotInGallery product={product} className="block" />
            </Cell>
            <Cell className={cn(wideOnlyClassName, "min-w-32 wrap-anywhere")}>
              {product.dimensions || "–"}
            </Cell>
            <Cell>
              <Switch
                aria-label={t("wall.featured", { title: product.title })}
                checked={product.is_featured}
                onCheckedChange={() => onToggle(product, "is_featured")}
              />
            </Cell>
            <Cell>
              <Switch
                aria-label={t("wall.inStock", { title: product.title })}
                checked={product.in_stock}
                onCheckedChange={() => onToggle(product, "in_stock")}
              />
            </Cell>
            <Cell className={cn(wideOnlyClassName, "whitespace-nowrap")}>
              {product.creation_date ? shortDate(product.creation_date, language) : "–"}
            </Cell>
            <td className="py-2">
              <div className="flex justify-end gap-0.5 lg:pr-3.5">
                <Actions product={product} {...handlers} />
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A column header. */
function Head({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <th
      scope="col"
      className={cn("label-text py-2.5 pr-4 font-[520] lg:whitespace-nowrap", className)}
    >
      {children}
    </th>
  );
}

type SortHeadProps = {
  sort: Sort;
  onSort(sort: Sort): void;
  /** The ascending order of this column. */
  ascending: Sort;
  /** The descending order; without it a second click goes back to newest first. */
  descending?: Sort;
  className?: string;
  children: ReactNode;
};

/** A column header that sorts the table. */
function SortHead({ sort, onSort, ascending, descending, className, children }: SortHeadProps) {
  const direction =
    sort === ascending ? "ascending" : sort === descending ? "descending" : undefined;
  const Arrow = direction === "descending" ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      aria-sort={direction}
      className={cn("label-text pr-4 font-[520] lg:whitespace-nowrap", className)}
    >
      <button
        type="button"
        className="hover:text-indigo -mx-2 flex min-h-11 items-center gap-1.5 rounded-sm px-2"
        onClick={() => onSort(sort === ascending ? (descending ?? "newest") : ascending)}
      >
        {children}
        <Arrow
          aria-hidden="true"
          size={16}
          strokeWidth={1.75}
          className={direction ? undefined : "invisible"}
        />
      </button>
    </th>
  );
}

/** A cell of the table. */
function Cell({ className, children }: { className?: string; children: ReactNode }) {
  return <td className={cn("py-2 pr-4 text-[1.0625rem] leading-[1.4]", className)}>{children}</td>;
}

/** The works as cards, for phones. */
function ProductCards({
  products,
  onToggle,
  ...handlers
}: Omit<ProductListProps, "sort" | "onSort">) {
  const t = useT();
  return (
    <ul className="md:hidden">
      {products.map((product) => (
        <li
          key={product.id}
          className="border-line flex items-start gap-6 border-b py-4 first:pt-0"
        >
          <Thumbnail product={product} />
          <div className="min-w-0 flex-1">
            <h2 className="text-[1.25rem] leading-[1.25] font-[430] italic">{product.title}</h2>
            <p className="text-ink2 text-sm">
              {t(`type.${product.artwork_type}`)}
              <NotInGallery product={product} before=" · " />
            </p>
            <div className="mt-1.5 flex flex-wrap items-center gap-2 empty:hidden">
              <VisibilityBadge product={product} />
              {product.is_featured && <Badge tone="indigo">{t("products.featuredBadge")}</Badge>}
              {!product.in_stock && <Badge tone="neutral">{t("products.outOfStock")}</Badge>}
            </div>
          </div>
          <div className="grid flex-none grid-cols-2 gap-0.5">
            <WorkSwitches work={product} onToggle={(name) => onToggle(product, name)} />
            <Actions product={product} {...handlers} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Says that the gallery does not show works of this type. */
function NotInGallery({
  product,
  before,
  className,
}: {
  product: Product;
  before?: string;
  className?: string;
}) {
  const t = useT();
  if (useBoot().site.gallery.types.includes(product.artwork_type)) return null;
  return (
    <span className={cn("text-ink2 text-[.9375rem]", className)}>
      {before}
      {t("products.notInGallery")}
    </span>
  );
}

/** The space for the picture in CSS pixels. */
const thumbnail = { width: 52, height: 52 };

/** The main picture of a work in a square. */
function Thumbnail({ product }: { product: Product }) {
  const info = imageInfo(product, product.image_url);
  return (
    <span className="bg-shade text-ink2 grid size-[60px] flex-none place-items-center p-1">
      {product.image_url ? (
        <Picture
          src={product.image_url}
          alt=""
          info={info}
          sizes={[["", "52px"]]}
          style={info && fitWithin(thumbnail, info)}
          className={info ? undefined : "size-[52px]"}
        />
      ) : (
        <ImageOff aria-hidden="true" size={22} strokeWidth={1.5} />
      )}
    </span>
  );
}

type ActionsProps = { product: Product } & Pick<
  ProductListProps,
  "onEdit" | "onDuplicate" | "onHistory" | "onDelete"
>;

/** The buttons of a work. */
function Actions({ product, onEdit, onDuplicate, onHistory, onDelete }: ActionsProps) {
  const t = useT();
  const { title } = product;
  return (
    <>
      <IconButton
        size="iconSm"
        variant="ghost"
        label={t("products.editNamed", { title })}
        onClick={() => onEdit(product)}
      >
        <Pencil aria-hidden="true" size={21} strokeWidth={1.5} />
      </IconButton>
      <IconButton
        size="iconSm"
        variant="ghost"
        label={t("products.duplicateNamed", { title })}
        onClick={() => onDuplicate(product)}
      >
        <Copy aria-hidden="true" size={20} strokeWidth={1.5} />
      </IconButton>
      <IconButton
        size="iconSm"
        variant="ghost"
        label={t("history.ofNamed", { name: title })}
        onClick={() => onHistory(product)}
      >
        <History aria-hidden="true" size={20} strokeWidth={1.5} />
      </IconButton>
      <IconButton
        size="iconSm"
        variant="ghost"
        label={t("products.deleteNamed", { title })}
        onClick={() => onDelete(product)}
      >
        <Trash2 aria-hidden="true" size={21} strokeWidth={1.5} />
      </IconButton>
    </>
  );
}
