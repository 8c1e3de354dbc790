import { FLAGS, SORTS, type ProductView } from "@/features/admin-products/list-view";
import { SearchField } from "@/components/form/search-field";
import { SelectField } from "@/components/form/select-field";
import { ARTWORK_TYPES } from "@/lib/constants";
import { useT } from "@/lib/i18n";

type ProductFiltersProps = {
  view: ProductView;
  /** Changes a part of the view, and so the URL. If `replace` is true, the browser's history gets no new entry. */
  onChange(part: Partial<ProductView>, options?: { replace: boolean }): void;
};

/** The search field, the filters and the order of the list of works. */
export function ProductFilters({ view, onChange }: ProductFiltersProps) {
  const t = useT();
  return (
    <div
      role="search"
      aria-label={t("products.find")}
      className="mb-6 grid items-start gap-x-4 gap-y-4 grid-cols-2 lg:grid-cols-[minmax(0,2fr)_1fr_1fr_1fr]"
    >
      <SearchField
        label={t("products.search")}
        q={view.q}
        onChange={onChange}
        className="max-lg:col-span-2"
      />
      <SelectField
        label={t("products.type")}
        value={view.type}
        onChange={(event) => onChange({ type: event.target.value as ProductView["type"] })}
      >
        <option value="">{t("products.allTypes")}</option>
        {ARTWORK_TYPES.map((type) => (
          <option key={type} value={type}>
            {t(`type.${type}`)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t("products.show")}
        value={view.flag}
        onChange={(event) => onChange({ flag: event.target.value as ProductView["flag"] })}
      >
        <option value="">{t("products.showAll")}</option>
        {FLAGS.map((flag) => (
          <option key={flag} value={flag}>
            {t(`products.flag.${flag}`)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t("products.sort")}
        className="max-lg:col-span-2"
        value={view.sort}
        onChange={(event) => onChange({ sort: event.target.value as ProductView["sort"] })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {t(`products.sort.${sort}`)}
          </option>
        ))}
      </SelectField>
    </div>
  );
}
