# What a report's page is made of, each list in the order in which it is loaded. Used by the build and by EmbedReport.cmake.
set(CUPILOT_REPORT_PACKAGES node-d3-array node-d3-collection node-d3-color libjs-d3-format node-d3-interpolate node-d3-time
  node-d3-time-format node-d3-scale node-d3-path node-d3-shape node-d3-selection node-d3-axis node-diff)
set(CUPILOT_REPORT_LIBRARIES "")
foreach(part IN ITEMS array collection color format interpolate time time-format scale path shape selection axis)
  list(APPEND CUPILOT_REPORT_LIBRARIES "d3-${part}/dist/d3-${part}.min.js")
endforeach()
list(APPEND CUPILOT_REPORT_LIBRARIES diff/dist/diff.js)
set(CUPILOT_REPORT_PROGRAM dom.js charts.js roofline.js source.js tree.js kernel.js app.js)
