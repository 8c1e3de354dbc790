import { Controller, useFormContext } from "react-hook-form";
import { ORDER_KEYS, WORKS_ORDERS, type SettingsValues } from "@/features/admin-settings/schema";
import { SelectField } from "@/components/form/select-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { Switch } from "@/components/ui/switch";
import { ARTWORK_TYPES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { ArtworkType } from "@/lib/types";

/** The settings of the gallery: which types of works it shows, and in which order works are listed. */
export function GalleryGroup() {
  const t = useT();
  const { register, control } = useFormContext<SettingsValues>();
  const orders = WORKS_ORDERS.map((order) => (
    <option key={order} value={order}>
      {t(ORDER_KEYS[order])}
    </option>
  ));
  return (
    <AdminGroup title={t("settings.group.gallery")} intro={t("settings.galleryIntro")}>
      <Controller
        name="gallery.types"
        control={control}
        render={({ field }) => <TypeSwitches types={field.value} onChange={field.onChange} />}
      />
      <Controller
        name="gallery.hideEmpty"
        control={control}
        render={({ field }) => (
          <Switch
            label={t("settings.hideEmpty")}
            checked={field.value}
            onCheckedChange={field.onChange}
            className="max-w-[36em]"
          />
        )}
      />
      <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
        <SelectField
          label={t("settings.galleryOrder")}
          hint={t("settings.galleryOrderHint")}
          {...register("gallery.order")}
        >
          {orders}
        </SelectField>
        <SelectField label={t("settings.stripOrder")} {...register("gallery.strip")}>
          <option value="">{t("settings.stripSame")}</option>
          {orders}
        </SelectField>
      </div>
    </AdminGroup>
  );
}

type TypeSwitchesProps = { types: readonly ArtworkType[]; onChange(types: ArtworkType[]): void };

/**
 * A switch for each type of works. A switched-on type is in the gallery; it comes last among the filter buttons. The only
 * type in the gallery cannot be switched off.
 */
function TypeSwitches({ types, onChange }: TypeSwitchesProps) {
  const t = useT();
  return (
    <fieldset className="min-w-0">
      <legend className="label-text mb-2">{t("settings.galleryTypes")}</legend>
      <div className="grid max-w-[36em] gap-3">
        {ARTWORK_TYPES.map((type) => {
          const inGallery = types.includes(type);
          return (
            <Switch
              key={type}
              label={t(`type.${type}`)}
              checked={inGallery}
              disabled={inGallery && types.length === 1}
              onCheckedChange={(on) =>
                onChange(on ? [...types, type] : types.filter((other) => other !== type))
              }
            />
          );
        })}
      </div>
    </fieldset>
  );
}
