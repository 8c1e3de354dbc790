import { ProductsPage } from "@/features/admin-products/components/products-page";

/** The route /admin/products. */
export function ProductsRoute() {
  return <ProductsPage />;
}
