import { useState, type ReactNode } from "react";
import { ArrowDown, ArrowUp } from "lucide-react";
import { Controller, useFormContext } from "react-hook-form";
import { ORDER_KEYS, WORKS_ORDERS, type SettingsValues } from "@/features/admin-settings/schema";
import { SelectField } from "@/components/form/select-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { IconButton } from "@/components/ui/icon-button";
import { Switch } from "@/components/ui/switch";
import { ARTWORK_TYPES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { moveItem } from "@/lib/move-item";
import type { ArtworkType } from "@/lib/types";

const iconProps = { "aria-hidden": true, size: 20, strokeWidth: 1.5 } as const;

/**
 * The fields of the settings page for the gallery (the page of all works): which types of works it shows, and in which order. The
 * fields also set the order of the strip of featured works.
 */
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
            // As wide as the switches above, which have arrow buttons beside them.
            className="max-w-[36em] pr-28"
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
 * A switch for each type of works: whether the gallery shows the type. The shown types are in the order of the gallery's
 * filter buttons. Arrows move a type in this order. A type that is switched on comes last. The only shown type cannot be
 * switched off.
 */
function TypeSwitches({ types, onChange }: TypeSwitchesProps) {
  const t = useT();
  const [announcement, setAnnouncement] = useState("");
  const hiddenTypes = ARTWORK_TYPES.filter((type) => !types.includes(type));

  function move(from: number, to: number) {
    if (to < 0 || to >= types.length) return;
    onChange(moveItem([...types], from, to));
    setAnnouncement(
      t("settings.typeMoved", { type: t(`type.${types[from]!}`), n: to + 1, total: types.length }),
    );
  }

  return (
    <fieldset className="min-w-0">
      <legend className="label-text">{t("settings.galleryTypes")}</legend>
      <p className="text-ink2 mt-1 mb-2 max-w-[36em] text-sm">{t("settings.galleryTypesHint")}</p>
      <ul className="grid max-w-[36em] gap-3">
        {[...types, ...hiddenTypes].map((type, index) => {
          const isInGallery = index < types.length;
          const name = t(`type.${type}`);
          return (
            <li key={type} className="flex items-center gap-4">
              <Switch
                label={name}
                checked={isInGallery}
                disabled={isInGallery && types.length === 1}
                className="flex-1"
                onCheckedChange={(on) =>
                  onChange(on ? [...types, type] : types.filter((other) => other !== type))
                }
              />
              <span className="flex w-24 flex-none justify-end gap-0.5">
                {isInGallery && (
                  <>
                    <MoveButton
                      label={t("settings.typeUp", { type: name })}
                      disabled={index === 0}
                      onClick={() => move(index, index - 1)}
                    >
                      <ArrowUp {...iconProps} />
                    </MoveButton>
                    <MoveButton
                      label={t("settings.typeDown", { type: name })}
                      disabled={index === types.length - 1}
                      onClick={() => move(index, index + 1)}
                    >
                      <ArrowDown {...iconProps} />
                    </MoveButton>
                  </>
                )}
              </span>
            </li>
          );
        })}
      </ul>
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </fieldset>
  );
}

type MoveButtonProps = { label: string; disabled: boolean; onClick(): void; children: ReactNode };

/** A button that moves a type. At the end of the list it stays focusable, so that the focus is not lost. */
function MoveButton({ disabled, ...button }: MoveButtonProps) {
  return (
    <IconButton
      size="iconSm"
      variant="ghost"
      className="aria-disabled:text-edge aria-disabled:cursor-default aria-disabled:bg-transparent"
      aria-disabled={disabled || undefined}
      {...button}
    />
  );
}
