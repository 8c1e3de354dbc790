import { ProductsPage } from "@/features/admin-products/components/products-page";

/** The route /admin/products: the page for the works. */
export function ProductsRoute() {
  return <ProductsPage />;
}
